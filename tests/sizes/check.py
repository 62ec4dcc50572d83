#!/usr/bin/env python3
"""check.py SOURCE: no source file over 600 lines, no folder of sources over 45 files, no function of the library over 80.

A function or a file may be longer for a reason, which a comment gives: "Long because ...", in the lines above the
function or in the first 12 lines of the file. Files are those that git tracks; tests may have long functions."""
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

LINES, FILES, FUNCTION = 600, 45, 80
SOURCES = (".h", ".cpp", ".inc", ".py", ".js", ".ts")
NO_FUNCTION = re.compile(r"(inline )?(namespace|struct|class|enum|union|extern|template <.*> (struct|class))\b")
DATA = re.compile(r".*[\w>\]] *= *\{$|.*\w\{$")  # a table, not a body


def has_reason(lines):
    return any("Long because" in line for line in lines)


def long_functions(lines):
    """(line, length) of functions at namespace scope: clang-format puts their braces in the first column."""
    start = None
    for i, line in enumerate(lines):
        if line.startswith("}") and start is not None:
            if i - start + 1 > FUNCTION and not has_reason(lines[max(0, start - 8):start]):
                yield start + 1, i - start + 1
            start = None
        elif (line.endswith("{") and line[0] not in " \t}#/" and not NO_FUNCTION.match(line)
              and not DATA.match(line)):
            start = i


def problems(source):
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=source, capture_output=True, text=True, check=True)
    files = [Path(name) for name in tracked.stdout.split("\0") if name.endswith(SOURCES)]
    files = [file for file in files if (source / file).is_file() and "dist" not in file.parts]
    for folder, count in Counter(file.parent for file in files).items():
        if count > FILES:
            yield f"{folder}: {count} files, more than {FILES}. Give a subject of it a folder of its own."
    for file in files:
        lines = (source / file).read_text(encoding="utf-8").split("\n")
        if len(lines) - 1 > LINES and not has_reason(lines[:12]):
            yield f"{file}: {len(lines) - 1} lines, more than {LINES}. Split it by subject."
        if file.parts[0] == "catena" and not file.stem.endswith("_test") and "testing" not in file.parts:
            for line, length in long_functions(lines):
                yield f"{file}:{line}: a function of {length} lines, more than {FUNCTION}. Give its parts names."


def self_test():
    body = ["int f() {", *["  g();"] * FUNCTION, "}"]
    assert list(long_functions(body)) == [(1, FUNCTION + 2)]
    assert not list(long_functions(body[:-4] + ["}"]))
    assert not list(long_functions(["// Long because it is a table."] + body))
    assert not list(long_functions(["const std::vector<int> kNumbers{", *["  1,"] * FUNCTION, "};"]))


def main():
    self_test()
    source = Path(sys.argv[1])
    if not (source / ".git").exists():
        print("not a git checkout: nothing to compare with")
        return 77
    found = list(problems(source))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
