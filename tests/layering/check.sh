#!/usr/bin/env bash
# check.sh ROOT ROOMS DEPENDS LISTED: the rules of the house, each breach as file:line: message.
#
#   - a room includes only rooms that stand above it in ROOMS (cmake/rooms.txt);
#   - a room declares (DEPENDS in its CMakeLists.txt) every room whose headers it includes;
#   - a room writes includes of Catena from the top of the repository, never relative;
#   - every source file of a room is LISTED in its CMakeLists.txt (a test that is not, never runs);
#   - what is installed includes only what is installed: public headers (HEADERS) and internal ones
#     (INTERNAL_HEADERS), never private ones;
#   - internal headers say so in their first line, "// Internal: ...", and no others do;
#   - docs/api.md names every public header.
#
# DEPENDS has lines `room kind other...`, kind being `all` or `test`; LISTED has lines `path` or, for
# headers that are installed, `path public` and `path internal`.
# Applications, benchmarks and bindings may include every room. Tests keep the same rules.
set -euo pipefail
root=$1 rooms=$2 depends=$3 listed=$4
cd "$root"

folders=()
for folder in catena apps benchmarks python; do
  if [[ -d $folder ]]; then folders+=("$folder"); fi
done
files=$(find "${folders[@]}" -type f \
  \( -name '*.h' -o -name '*.hpp' -o -name '*.cpp' -o -name '*.inl' \) | LC_ALL=C sort)
if [[ -z "$files" ]]; then echo "no sources under $root" >&2; exit 2; fi

awk -v rooms_file="$rooms" -v depends_file="$depends" -v listed_file="$listed" '
  function fail(line, message) { printf "%s:%d: %s\n", FILENAME, line, message; breaches++ }

  BEGIN {
    while ((getline text < rooms_file) > 0)
      if (text ~ /^[a-z]/) { split(text, word, " "); place[word[1]] = ++count }
    while ((getline text < depends_file) > 0) {
      n = split(text, word, " ")
      built[word[1]] = 1
      for (i = 3; i <= n; i++) declared[word[1], word[2], word[i]] = 1
    }
    while ((getline text < listed_file) > 0) {
      n = split(text, word, " ")
      is_listed[word[1]] = 1
      if (n > 1) kind[word[1]] = word[2]
    }
    while ((getline text < "docs/api.md") > 0) page = page text "\n"
    if (count == 0) { print "no rooms in " rooms_file; breaches = 1; exit }
  }

  FNR == 1 {
    split(FILENAME, path, "/")
    room = path[1] == "catena" ? path[2] : ""
    is_test = FILENAME ~ /_test\.cpp$/
    if (room != "" && !(room in place)) fail(1, "catena/" room " is not in cmake/rooms.txt")
    else if (room in built && !(FILENAME in is_listed))
      fail(1, "not listed in catena/" room "/CMakeLists.txt")
    else if (room != "" && !(room in built)) fail(1, "catena/" room " has no CMakeLists.txt")
    if (kind[FILENAME] == "public" && index(page, FILENAME) == 0) fail(1, "public, but not in docs/api.md")
  }

  # The first line, or the second one below the line of the licence.
  FNR == 1 { licensed = /^\/\/ SPDX-License-Identifier: / }
  FNR == 1 + licensed {
    says_internal = $0 ~ /^\/\/ Internal: /
    if (kind[FILENAME] == "internal" && !says_internal)
      fail(1, "is under INTERNAL_HEADERS; its first line must begin with \"// Internal: \"")
    if (kind[FILENAME] != "internal" && says_internal) fail(1, "is not under INTERNAL_HEADERS, but says so")
  }

  /^[ \t]*#[ \t]*include[ \t]*["<]/ {
    target = $0
    sub(/^[^"<]*["<]/, "", target)
    sub(/[">].*/, "", target)
    if (target !~ /^catena\//) {
      if (room != "" && $0 ~ /include[ \t]*"/)
        fail(FNR, "\"" target "\": write it from the top, \"catena/room/file.h\"")
      next
    }
    n = split(target, part, "/")
    other = part[2]
    if (n < 3 || !(other in place)) fail(FNR, "\"" target "\" is in no room of cmake/rooms.txt")
    else if (kind[FILENAME] != "" && target in is_listed && kind[target] == "")
      fail(FNR, "is installed, but includes \"" target "\", which is not")
    else if (!(room in place) || other == room) next
    else if (place[other] > place[room]) fail(FNR, room " includes " other ", which stands below it")
    else if (!((room, "all", other) in declared) && !(is_test && (room, "test", other) in declared))
      fail(FNR, room " includes " other " without declaring it in " (is_test ? "TEST_DEPENDS" : "DEPENDS"))
  }

  END {
    if (breaches) { printf "%d breach%s\n", breaches, (breaches == 1 ? "" : "es"); exit 1 }
    print "no breach"
  }
' $files
