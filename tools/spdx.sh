#!/usr/bin/env bash
# spdx.sh [--check]: puts the line of the licence first into every C++ source, or (--check) names those without it.
# Examples are printed in pages as they are, and stay without.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
line='// SPDX-License-Identifier: BSD-3-Clause'
missing=0
while read -r file; do
  [[ -f $file ]] || continue
  if [[ $(head -n 1 "$file") == "$line" ]]; then continue; fi
  missing=$((missing + 1))
  if [[ ${1:-} == --check ]]; then
    echo "$file: no SPDX line"
  else
    printf '%s\n' "$line" | cat - "$file" >"$file.spdx"
    cat "$file.spdx" >"$file"  # keeps the mode of the file
    rm "$file.spdx"
  fi
done < <(git ls-files -- '*.h' '*.cpp' ':!tests/layering/fixture' ':!examples')
if [[ ${1:-} == --check ]]; then exit $((missing > 0)); fi
echo "$missing files changed"
