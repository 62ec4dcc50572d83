#!/usr/bin/env bash
# fuzz.sh BUILD SECONDS: runs every fuzz target in BUILD/fuzzers. What it learns is kept in
# BUILD/corpus/<target>; an input that fails is written to BUILD/failures. Seeds, if any, are in
# tests/corpus/<target>.
set -euo pipefail
build=$1
seconds=$2
found=0
mkdir -p "$build/failures"
for fuzzer in "$build"/fuzzers/*_fuzz; do
  [[ -x "$fuzzer" ]] || continue
  found=1
  name=$(basename "$fuzzer")
  corpus=("$build/corpus/$name")
  mkdir -p "${corpus[0]}"
  if [[ -d "tests/corpus/$name" ]]; then corpus+=("tests/corpus/$name"); fi
  echo "+ $name, $seconds s"
  "$fuzzer" -max_total_time="$seconds" -timeout=10 -artifact_prefix="$build/failures/$name-" "${corpus[@]}"
done
if [[ $found -eq 0 ]]; then echo "There are no fuzz targets yet."; fi
