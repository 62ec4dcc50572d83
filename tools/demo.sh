#!/usr/bin/env bash
# demo.sh CATENA: the main job, from an SDF file with a closed loop to a report.
set -euo pipefail
catena=$1
result=build/demo
mkdir -p "$result"

run() {  # run FILE ARGUMENTS: shows the command, prints its output and keeps it
  local file=$1
  shift
  echo "+ catena $*"
  "$catena" "$@" | tee "$result/$file"
  echo
}

# A four-bar straight from SDF: four links, four joints, a loop and no spanning tree.
run info.txt info models/four_bar.sdf
run bearing_forces.txt dynamics models/four_bar.sdf --what forces
run simulate.txt simulate models/four_bar.sdf --duration 10 -o "$result/four_bar.h5"
run report.txt report "$result/four_bar.h5" -o "$result/report.html"

echo "The report is $(pwd)/$result/report.html: open it in a browser."
