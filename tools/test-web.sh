#!/usr/bin/env bash
# test-web.sh BUILD [WORDS]: opens reports in a headless browser and looks at them. Screenshots go to
# BUILD/web. WORDS: only tests with these in their name.
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(pwd)
runs=$build/web
mkdir -p "$runs"
catena=$build/apps/catena/catena
write_run=$build/tests/catena_write_run

for what in pendulum four_bar bare million hills; do
  "$write_run" "$what" models "$runs/$what.h5"
  "$catena" report "$runs/$what.h5" -o "$runs/$what.html" 2> "$runs/$what.notes"
done

# Runs of the program itself: contact, flexible bodies, runs to lie over each other.
own=$source/web/test/models
simulate() {  # NAME MODEL OPTION...
  local name=$1
  shift
  "$catena" simulate "$@" --quiet -o "$runs/$name.h5" > "$runs/$name.txt"
  "$catena" report "$runs/$name.h5" -o "$runs/$name.html" 2> "$runs/$name.notes"
}
simulate landing models/quadruped.yaml --settings examples/landing.yaml
simulate slope "$own/slope.yaml" --settings "$own/slope_settings.yaml"
simulate boom "$own/boom.yaml" --duration 1 --interval 0.01 --input "slew=20*sin(6*t)"
echo "q: {shoulder: 2.5, elbow: 0.3}" > "$runs/high.yaml"
simulate high models/double_pendulum.yaml --state "$runs/high.yaml" --duration 8 --interval 0.025
simulate lossy models/double_pendulum.yaml --state "$runs/high.yaml" --duration 5 --method euler --step 0.02
echo "q: {shoulder: 0, elbow: 0}" > "$runs/down.yaml"
simulate bearings models/double_pendulum.yaml --state "$runs/down.yaml" --duration 1 --interval 0.1 --outputs "force.*,moment.*"
simulate pendulum_short models/double_pendulum.yaml --state "$runs/high.yaml" --duration 1 --interval 0.02
"$catena" report "$runs/pendulum.h5" "$runs/high.h5" -o "$runs/both.html"
"$catena" modes "$own/boom.yaml" --report "$runs/boom_modes.html" > "$runs/boom_modes.txt"
"$catena" modes models/double_pendulum.yaml --at "$runs/down.yaml" --report "$runs/pendulum_modes.html" > "$runs/pendulum_modes.txt"

cd web
# The lock file leaves packages of other systems out, which npm 11 takes for a mistake in `ci`.
if [[ ! -d node_modules/playwright-core ]]; then npm ci --silent || npm install --no-save --silent; fi
CATENA=$catena WRITE_RUN=$write_run RUNS=$runs MODELS=$source/models node test/run.js "${@:2}"
