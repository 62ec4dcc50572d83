#!/usr/bin/env bash
# dearest-files.sh [BUILD] [LIMIT]: the ten files of a build that took the compiler longest, in CPU-seconds, and
# the sum. With LIMIT: fails if a file took more than that, and names it.
#
# LIMIT is in seconds of a machine that parses the standard library and Eigen (a precompiled header, part of the same
# log) in `reference` seconds. A slower or busier machine gets proportionally more.
set -euo pipefail
build=${1:-build/release} limit=${2:-}
log=$build/compile_times.txt
if [[ ! -s $log ]]; then echo "no compile times in $build: build it first" >&2; exit 2; fi
awk -F '\t' -v build="$build" -v limit="${limit:-0}" -v reference=5.5 '
  # What a batch of a unity build includes.
  function sources(object,   file, line, list, name) {
    if (object !~ /unity_[0-9]+_cxx/) return ""
    file = object
    sub(/\.o$/, "", file)
    file = build "/" file
    while ((getline line < file) > 0)
      if (line ~ /^#include/) {
        name = line
        sub(/.*\//, "", name)
        sub(/".*/, "", name)
        list = list (list == "" ? "" : ", ") name
      }
    close(file)
    return " (" list ")"
  }
  { seconds[$2] = $1 }  # the last compilation of an object counts
  END {
    for (object in seconds)
      if (object ~ /catena_precompiled_(library|cold_library|test)\.dir\/cmake_pch/) {
        yardsticks++
        yardstick += seconds[object]
      }
    slowness = yardsticks ? yardstick / yardsticks / reference : 1
    if (slowness > 1) limit *= slowness
    for (object in seconds) {
      total += seconds[object]
      count++
      if (limit > 0 && seconds[object] > limit) {
        printf "%6.1f s  %s%s: more than %g CPU-seconds. Move heavy templates into a .cpp of their own, or split it.\n",
               seconds[object], object, sources(object), limit
        dear = 1
      }
    }
    for (rank = 0; rank < 10 && rank < count; rank++) {
      top = ""
      for (object in seconds) if (!(object in shown) && (top == "" || seconds[object] > seconds[top])) top = object
      shown[top] = 1
      printf "%6.1f s  %s%s\n", seconds[top], top, sources(top)
    }
    printf "%6.0f s  in all, %d objects; this machine took %.2f of the reference time\n", total, count, slowness
    exit dear
  }
' "$log"
