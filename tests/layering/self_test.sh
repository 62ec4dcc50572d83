#!/usr/bin/env bash
# The layering test must be able to fail: it is run on a small house with known breaches, and must
# name each of them and nothing else.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
fixture="$here/fixture"
status=0
found=$("$here/check.sh" "$fixture" "$fixture/rooms.txt" "$fixture/depends.txt" "$fixture/listed.txt") || status=$?
if [[ $status -ne 1 ]]; then echo "expected exit 1, got $status"; echo "$found"; exit 1; fi
diff "$fixture/expected.txt" - <<< "$found"
