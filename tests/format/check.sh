#!/usr/bin/env bash
# check.sh SOURCE: fails when a source is not formatted (clang-format 14, as on Debian 12; others format differently).
# 77: skipped, there is no such clang-format or this is no clone.
set -euo pipefail
cd "$1"
formatter=
for name in clang-format-14 clang-format; do
  if command -v "$name" >/dev/null && "$name" --version | grep -q 'version 14\.'; then formatter=$name; break; fi
done
if [[ -z $formatter ]]; then echo "no clang-format 14 here"; exit 77; fi
if ! git rev-parse --git-dir >/dev/null 2>&1; then echo "not a clone"; exit 77; fi
git ls-files -co --exclude-standard -- '*.h' '*.cpp' ':!tests/layering/fixture' |
  while read -r file; do if [[ -f $file ]]; then echo "$file"; fi; done |
  xargs -r "$formatter" --dry-run --Werror
