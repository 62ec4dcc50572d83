#!/usr/bin/env bash
# bench.sh BUILD [PLUGIN ...]: runs the benchmarks in BUILD/benchmarks. Ours alone with Google
# Benchmark (dynamics_bench.json); then one table with the peers that are installed, into
# benchmarks/results.md with a picture (results.svg), and what closed loops cost. Peers built elsewhere (benchmarks/peer.h) may be
# named as well.
set -euo pipefail
build=$1
shift
"$build/benchmarks/dynamics_bench" --benchmark_min_time=0.1 \
  --benchmark_out="$build/benchmarks/dynamics_bench.json" --benchmark_out_format=json
echo "The result is in $(pwd)/$build/benchmarks/dynamics_bench.json"
shopt -s nullglob
"$build/benchmarks/table" --markdown benchmarks/results.md "$build"/benchmarks/peer_*.so "$@"
python3 benchmarks/plot.py benchmarks/results.md benchmarks/results.svg
"$build/benchmarks/loop_costs" "$build"/benchmarks/peer_*.so "$@"
