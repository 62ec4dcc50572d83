#!/usr/bin/env bash
# cookbook.sh CATENA SOURCE WORK PAGE...: runs every command `    $ ...` of the pages in WORK, page by page, in order. All of
# them must succeed.
set -euo pipefail
catena=$(realpath "$1")
source=$(realpath "$2")
work=$3
shift 3
rm -rf "$work"
mkdir -p "$work/bin"
cd "$work"
ln -s "$catena" bin/catena
export PATH="$work/bin:$PATH"
for folder in models examples verification; do ln -s "$source/$folder" "$folder"; done

failures=0
commands=0
for page in "$@"; do
  while IFS= read -r command; do
    commands=$((commands + 1))
    if ! bash -euo pipefail -c "$command" >out.txt 2>&1 </dev/null; then
      failures=$((failures + 1))
      echo "$page: failed: $command"
      sed 's/^/    /' out.txt
    fi
  done < <(sed -n 's/^    \$ //p' "$source/$page")
done
echo "$commands commands, $failures failed"
[[ $commands -gt 0 && $failures -eq 0 ]]
