#!/usr/bin/env bash
# linear.sh LINEAR: the cost of the dynamics is linear in the number of bodies. Counts the instructions per body of a
# call for chains and stars of 1,000 and 10,000 bodies; they may differ by 2 %. Times would measure the caches: the step
# from a mechanism inside a cache to one outside is 1.3 to 2.7 from one processor to the next.
# Exit 77: valgrind is not installed.
set -euo pipefail
if ! command -v valgrind > /dev/null; then
  echo "skipped: valgrind is not installed (Debian: valgrind)"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

count() {  # count SHAPE BODIES WHAT: instructions of a call
  valgrind --tool=callgrind --toggle-collect=counted --callgrind-out-file="$work/out" \
    "$linear" "$@" 2> "$work/log" || { cat "$work/log" >&2; exit 1; }
  awk '/Collected :/ {print $4}' "$work/log"
}

linear=$1 fail=0
for shape in chain star; do
  for what in forward inverse; do
    few=$(count $shape 1000 $what)
    many=$(count $shape 10000 $what)
    echo "$shape, $what: $((few / 1000)) and $((many / 10000)) instructions per body"
    # |many - 10 few| <= 2 % of 10 few
    difference=$((many > 10 * few ? many - 10 * few : 10 * few - many))
    if ((difference * 5 > few)); then
      echo "  not linear: the cost per body differs by more than 2 %"
      fail=1
    fi
  done
done
exit $fail
