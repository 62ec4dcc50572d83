#!/usr/bin/env bash
# compile-time.sh LOG COMPILER ARGUMENT...: runs the compiler and appends "CPU-seconds <tab> object" to LOG.
# CMake puts it before every compilation (cmake/CatenaRoom.cmake); tools/dearest-files.sh reads the log.
log=$1
shift
exec 3>&1 4>&2
seconds=$({ TIMEFORMAT='%U %S'; time "$@" >&3 2>&4; } 2>&1)
status=$?
object=
while [[ $# -gt 1 ]]; do
  if [[ $1 == -o ]]; then object=$2; break; fi
  shift
done
if [[ $status -eq 0 && -n $object ]]; then
  awk -v object="$object" '{printf "%.2f\t%s\n", $1 + $2, object}' <<< "${seconds##*$'\n'}" >> "$log"
fi
exit "$status"
