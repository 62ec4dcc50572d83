#!/usr/bin/env bash
# demo.sh CATENA: the main job on a model that comes with Catena.
set -euo pipefail
catena=$1
model=models/four_bar.yaml
result=build/demo
mkdir -p "$result"
echo "+ $catena info $model"
"$catena" info "$model" | tee "$result/info.txt"
echo
echo "The result is in $(pwd)/$result/info.txt"
