#!/usr/bin/env bash
# check.sh BUILD_DIR: the instruction sets stay apart.
# 1. The kernels for AVX2 and AVX-512 define no function that another object also could (weak symbols outside their
#    own namespace would replace the portable ones at link time).
# 2. No other object of the library has an AVX instruction.
set -euo pipefail
build=$1
mapfile -t kernels < <(find "$build/catena" -name '*kernels_avx2.cpp.o' -o -name '*kernels_avx512.cpp.o')
if [[ ${#kernels[@]} -eq 0 ]]; then
  echo "no AVX2 kernels in this build: nothing to check"
  exit 0
fi
fail=0
avx_instructions() { objdump -d --no-show-raw-insn "$1" | grep -cE '%ymm|%zmm|\bvfmadd' || true; }
for object in "${kernels[@]}"; do
  # (DW.ref.* is a pointer to the runtime's own function, the same in every object.)
  shared=$(nm -C --defined-only "$object" | awk '$2 ~ /^[WVu]$/' |
           grep -vE 'catena::avx(2|512)::| DW\.ref\.__gxx_personality_v0$' || true)
  if [[ -n $shared ]]; then
    echo "${object#"$build/"} defines symbols that other objects may define too:"
    echo "$shared"
    fail=1
  fi
  # That the search itself works: these do have such instructions.
  if [[ $(avx_instructions "$object") -eq 0 ]]; then
    echo "${object#"$build/"} has no AVX or FMA instruction: are its flags lost?"
    fail=1
  fi
done
count=0
while read -r object; do
  count=$((count + 1))
  if [[ $(avx_instructions "$object") -ne 0 ]]; then
    echo "${object#"$build/"} has AVX instructions in a portable build"
    fail=1
  fi
done < <(find "$build/catena" -name '*.cpp.o' -not -name '*_test.cpp.o' \
             -not -name '*kernels_avx2.cpp.o' -not -name '*kernels_avx512.cpp.o')
echo "looked at $count portable objects"
exit $fail
