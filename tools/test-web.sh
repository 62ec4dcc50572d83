#!/usr/bin/env bash
# test-web.sh BUILD: opens reports in a headless browser and looks at them. Screenshots go to
# BUILD/web.
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(pwd)
runs=$build/web
mkdir -p "$runs"
catena=$build/apps/catena/catena
write_run=$build/tests/catena_write_run

for what in pendulum four_bar bare million; do
  "$write_run" "$what" models "$runs/$what.h5"
  "$catena" report "$runs/$what.h5" -o "$runs/$what.html" 2> "$runs/$what.notes"
done

cd web
# The lock file leaves packages of other systems out, which npm 11 takes for a mistake in `ci`.
if [[ ! -d node_modules/playwright-core ]]; then npm ci --silent || npm install --no-save --silent; fi
CATENA=$catena WRITE_RUN=$write_run RUNS=$runs MODELS=$source/models node test/page.test.js
