#!/usr/bin/env bash
# bench.sh BUILD: runs every benchmark in BUILD/benchmarks; results as JSON beside them.
set -euo pipefail
build=$1
found=0
for benchmark in "$build"/benchmarks/*_bench; do
  [[ -x "$benchmark" ]] || continue
  found=1
  "$benchmark" --benchmark_out="$benchmark.json" --benchmark_out_format=json
  echo "The result is in $(pwd)/$benchmark.json"
done
if [[ $found -eq 0 ]]; then echo "There are no benchmarks yet."; fi
