#!/usr/bin/env bash
# run.sh BUILD WORK CXX CXX_FLAGS GENERATOR: installs BUILD under WORK, then builds and runs the
# program beside this script against the installed tree, through find_package and through
# pkg-config, and measures how long its one source file takes to compile.
set -euo pipefail
build=$1 work=$2 cxx=$3 cxx_flags=$4 generator=$5
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
prefix="$work/prefix"
expected="double pendulum: 2 freedoms, 3.0 kg"
goal=5    # seconds: what a user should wait for
limit=15  # seconds: the test fails

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$prefix" > "$work/install.log"

# The tree must not depend on where it was built.
mv "$prefix" "$prefix-moved"
prefix="$prefix-moved"

check() {
  local found
  found=$("$1")
  if [[ "$found" != "$expected" ]]; then echo "$1: expected '$expected', got '$found'"; exit 1; fi
  echo "$2: $found"
}

cmake -S "$here" -B "$work/cmake" -G "$generator" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_CXX_FLAGS="$cxx_flags" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$work/cmake"
export LD_LIBRARY_PATH=$(dirname "$(find "$prefix" -name 'libcatena_*' -print -quit)")
check "$work/cmake/consumer" "find_package"

export PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name catena.pc)")
pkg-config --validate catena
read -ra flags <<< "$cxx_flags $(pkg-config --cflags catena-model)"
read -ra libraries <<< "$(pkg-config --libs catena-model)"
TIMEFORMAT=%R
{ time "$cxx" -std=c++20 -O2 "${flags[@]}" -c "$here/main.cpp" -o "$work/main.o" 2> "$work/compile.log"; } \
  2> "$work/seconds.txt" || { cat "$work/compile.log"; exit 1; }
"$cxx" "${flags[@]}" "$work/main.o" "${libraries[@]}" -o "$work/consumer"
check "$work/consumer" "pkg-config"

if [[ -x "$prefix/bin/catena" ]]; then "$prefix/bin/catena" --version; fi

seconds=$(cat "$work/seconds.txt")
echo "Consumer program against the installed tree: compiled in $seconds s (goal: under $goal s)" | tee "$work/report.txt"
if awk "BEGIN {exit !($seconds > $limit)}"; then echo "That is above the limit of $limit s."; exit 1; fi
if awk "BEGIN {exit !($seconds > $goal)}"; then echo "WARNING: that is above the goal." | tee -a "$work/report.txt"; fi
