#!/usr/bin/env bash
# install-deps.sh GROUP...: installs the Debian packages of these groups of debian-packages.txt
# that are missing. When nothing is missing, apt is not called (no network, no rights needed).
# CATENA_SKIP_DEPS=1 does nothing, for machines that provide the packages in another way.
set -euo pipefail
list="$(dirname "${BASH_SOURCE[0]}")/debian-packages.txt"

if [[ -n "${CATENA_SKIP_DEPS:-}" ]]; then exit 0; fi
if [[ $# -eq 0 ]]; then
  echo "usage: install-deps.sh GROUP...   (groups: $(awk '!/^#/ && NF {print $1}' "$list" | sort -u | xargs))" >&2
  exit 2
fi

wanted=()
for group in "$@"; do
  packages=$(awk -v group="$group" '$1 == group {print $2}' "$list")
  if [[ -z "$packages" ]]; then echo "install-deps.sh: no group '$group' in $list" >&2; exit 2; fi
  for package in $packages; do wanted+=("$package"); done
done

if ! command -v dpkg-query >/dev/null; then
  echo "This is not a Debian system; Catena needs what Debian calls: ${wanted[*]}" >&2
  echo "Continuing; CMake will name what it cannot find." >&2
  exit 0
fi

missing=()
for package in "${wanted[@]}"; do
  # NodeSource's nodejs brings npm along and refuses Debian's.
  if [[ "$package" == npm ]] && command -v npm >/dev/null; then continue; fi
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  if [[ "$status" != installed ]]; then missing+=("$package"); fi
done
if [[ ${#missing[@]} -eq 0 ]]; then exit 0; fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "Missing packages: ${missing[*]}" >&2
    echo "Neither root nor sudo here. Have an administrator run:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "Installing: ${missing[*]}"
apt_get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
"${apt_get[@]}" update || echo "apt-get update failed; trying with the lists that are there" >&2
"${apt_get[@]}" install -y --no-install-recommends "${missing[@]}"
