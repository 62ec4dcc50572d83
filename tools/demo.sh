#!/usr/bin/env bash
# demo.sh CATENA: what Catena does today, on models that come with it.
set -euo pipefail
catena=$1
result=build/demo
mkdir -p "$result"

run() {  # run FILE ARGUMENTS: shows the command, prints its output and keeps it
  local file=$1
  shift
  echo "+ catena $*"
  "$catena" "$@" | tee "$result/$file"
  echo
}

# A four-bar straight from SDF: four links, four joints, a loop and no spanning tree.
four_bar=models/four_bar.sdf
if ! "$catena" check "$four_bar" > "$result/check.txt" 2>&1; then four_bar=models/four_bar.yaml; fi
run info.txt info "$four_bar"

# A six-axis arm, reaching out: the torques that hold it, and the forces in its joints.
cat > "$result/state.yaml" << 'STATE'
q: {pan: 0.3, lift: -0.6, elbow: 0.9, wrist_pitch: 0.4, wrist_yaw: -0.2, wrist_roll: 0.1}
acceleration: [0, 0, 0, 0, 0, 0]                      # held still
external:
  - {body: flange, force: [0, 0, -20], axes: ground}   # 2 kg in the hand
STATE
echo "+ cat $result/state.yaml"
cat "$result/state.yaml"
echo
run holding_torques.txt dynamics models/arm6.yaml --state "$result/state.yaml" --what inverse
run joint_forces.txt dynamics models/arm6.yaml --state "$result/state.yaml" --what forces
"$catena" dynamics models/arm6.yaml --state "$result/state.yaml" --what mass-matrix \
  -o "$result/mass_matrix.json"

echo "The results are in $(pwd)/$result: info.txt, holding_torques.txt, joint_forces.txt, mass_matrix.json"
