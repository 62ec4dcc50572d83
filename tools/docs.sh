#!/usr/bin/env bash
# docs.sh OUTPUT: the reference manual, made by Doxygen, in OUTPUT/html.
set -euo pipefail
output=$1
mkdir -p "$output"
version=$(sed -n 's/^project(catena VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

# The page of the rooms, from the list that the build uses.
{
  echo "# The rooms"
  echo
  echo "A room may include only rooms that stand above it."
  echo
  echo "| room | what is in it |"
  echo "|---|---|"
  sed -n 's/^\([a-z_]*\)  *\(.*\)/| `catena::\1` | \2 |/p' cmake/rooms.txt
} > "$output/rooms.md"

{
  cat docs/Doxyfile
  echo "PROJECT_NUMBER = $version"
  echo "OUTPUT_DIRECTORY = $output"
  echo "INPUT += $output/rooms.md"
} | doxygen -
echo "The manual is in $(pwd)/$output/html/index.html"
