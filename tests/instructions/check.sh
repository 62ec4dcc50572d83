#!/usr/bin/env bash
# check.sh COUNT MODELS FIGURES COMPILER [--print]: forward dynamics has not become longer. Counts the
# instructions of a call (valgrind --tool=callgrind; the same on a busy machine as on an idle one) and
# fails when there are more than 10 % above the checked-in figure. After an improvement, or for
# another compiler, --print prints the lines of the figures.
# Exit 77: nothing to compare (no valgrind, no figure for this compiler and instruction set).
set -euo pipefail
count=$1 models=$2 figures=$3 compiler=$4 print=${5:-}
if ! command -v valgrind > /dev/null; then
  echo "skipped: valgrind is not installed (Debian: valgrind)"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail=0 compared=0
for model in arm7 quadruped; do
  for what in one batch; do
    isa=$(valgrind --tool=callgrind --toggle-collect=counted --callgrind-out-file="$work/out" \
            "$count" "$models/$model.yaml" "$what" 2> "$work/log") || { cat "$work/log"; exit 1; }
    # Ten calls of which the first also fills caches of the library's own.
    total=$(awk '/Collected :/ {print $4}' "$work/log")
    figure=$((total / 10))
    if [[ $print == --print ]]; then
      echo "$compiler $isa $model $what $figure"
      continue
    fi
    wanted=$(awk -v c="$compiler" -v i="$isa" -v m="$model" -v w="$what" \
               '$1 == c && $2 == i && $3 == m && $4 == w {print $5}' "$figures")
    if [[ -z $wanted ]]; then
      echo "no figure for $compiler, $isa, $model, $what; counted $figure"
      continue
    fi
    compared=$((compared + 1))
    echo "$model, $what: $figure instructions, figure $wanted"
    if (( figure * 10 > wanted * 11 )); then
      echo "  more than 10 % longer than it was; if it must be, put the new figure into ${figures##*/}"
      fail=1
    fi
  done
done
[[ $print == --print || $compared -gt 0 ]] || exit 77
exit $fail
