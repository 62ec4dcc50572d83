#!/usr/bin/env python3
"""check.py SOURCE: no source file over 600 lines, no folder of sources over 45 files of any kind, no function of the library over 80.

A function or a file may be longer for a reason, which a comment gives: "Long because ...", in the lines above the
function or in the first 12 lines of the file. Files are those that git tracks; tests may have long functions."""
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

LINES, FILES, FUNCTION = 600, 45, 80
SOURCES = (".h", ".cpp", ".inc", ".py", ".js", ".ts")
NO_FUNCTION = re.compile(r"(inline )?(namespace|enum|union|extern|using|friend)\b")
CLASS = re.compile(r"(template <.*> )?(struct|class)\b(?!.*\) (const )?\{$)")
DATA = re.compile(r".*[\w>\]] *= *\{|[^(]*\w\{$")  # a table, not a body


def has_reason(lines):
    return any("Long because" in line for line in lines)


def long_functions(lines, first=0, indent=""):
    """(line, length) of functions at namespace scope and in classes. clang-format puts the end of a thing below its
    start, so that a thing is from an unindented line to the next unindented "}"; a signature may take several lines."""
    head = brace = None
    for i, full in enumerate(lines):
        line = re.sub(r"\s*//.*", "", full[len(indent):]) if full.startswith(indent) else ""
        if line.startswith("}"):
            if brace is not None:
                start = " ".join(l[len(indent):].strip() for l in lines[head:brace + 1])
                if CLASS.match(start):
                    yield from long_functions(lines[brace + 1:i], first + brace + 1, indent + "  ")
                elif not DATA.match(start) and i - head + 1 > FUNCTION and not has_reason(lines[max(0, head - 8):head]):
                    yield first + head + 1, i - head + 1
            head = brace = None
        elif brace is None and line:
            if NO_FUNCTION.match(line):
                head = None  # what is inside stands at the same column
            elif head is None and line[0] not in " \t#" and not line.endswith(":"):
                head = i
            if head is not None and line.endswith("{"):
                brace = i
            elif line.endswith((";", "{}", "}")):
                head = None


def problems(source):
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=source, capture_output=True, text=True, check=True)
    files = [Path(name) for name in tracked.stdout.split("\0") if name.endswith(SOURCES)]
    files = [file for file in files if (source / file).is_file() and "dist" not in file.parts]
    everything = [Path(name).parent for name in tracked.stdout.split("\0") if name]
    for folder, count in Counter(everything).items():
        if count > FILES and any(file.parent == folder for file in files):
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
    split = ["int f(int a,", "      int b) {", *["  g();"] * FUNCTION, "}"]
    assert list(long_functions(["int x = 1;", *split])) == [(2, FUNCTION + 3)]
    member = ["class A {", " public:", "  A()", "      : a_(1) {", *["    g();"] * FUNCTION, "  }", "};"]
    assert list(long_functions(member)) == [(3, FUNCTION + 3)]
    assert not list(long_functions(["class A {", *["  int a;"] * FUNCTION, "};"]))
    assert list(long_functions(["namespace {", *body, "}  // namespace"])) == [(2, FUNCTION + 2)]


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
