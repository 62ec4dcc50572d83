#!/usr/bin/env bash
# lint.sh BUILD JOBS: clang-tidy over what BUILD compiles; every public header on its own; cppcheck
# if it is there. Fails on the first two.
set -euo pipefail
build=$1
jobs=$2
status=0

cmake --build "$build" --parallel "$jobs" --target all_verify_interface_header_sets || status=1

run_clang_tidy=$(command -v run-clang-tidy || command -v run-clang-tidy-14)
# Without the options that only GCC knows: clang-tidy takes them for errors.
mkdir -p "$build/lint"
sed -E 's/ -m(move|store)-max=[0-9]+| -fsched-pressure| -fschedule-insns\b//g' \
  "$build/compile_commands.json" > "$build/lint/compile_commands.json"
# The files that only include one header (verify_interface_header_sets) would say everything twice.
"$run_clang_tidy" -quiet -p "$build/lint" -j "$jobs" "^$(pwd)/(catena|apps|benchmarks)/" || status=1

# Advice only. It does not understand every macro and template, which is no news of the code.
if command -v cppcheck >/dev/null; then
  cppcheck --quiet --std=c++20 --language=c++ --enable=warning,performance,portability --inline-suppr \
    --library=googletest --suppress=missingIncludeSystem --suppress=unknownMacro \
    --suppress=syntaxError --suppress=internalAstError -j "$jobs" -I . catena apps || true
fi
exit $status
