#!/usr/bin/env python3
"""plot.py RESULTS.md PICTURE.svg: draws the tables that `table --markdown` wrote.

One panel for each function below, a bar for each library: its time over Catena's on a logarithmic
scale, for the mechanism below (or the first one). Standard library only.
"""
import math
import re
import sys

MECHANISM = "humanoid, 6 + 32"
FUNCTIONS = ["inverse dynamics", "forward dynamics", "mass matrix", "forward, batch of 1,024"]
COLOURS = {"Catena": "#0969da"}
OTHER = "#8c959f"
ORIGIN = 0.5  # where bars begin, over Catena's time


def read(path):
    """{function: {mechanism: {library: ns}}} from the tables of all libraries."""
    tables, function, names = {}, None, []
    for line in open(path, encoding="utf-8"):
        if line.startswith("### "):
            function, names = line[4:].strip(), []
        elif line.startswith("## "):
            function = None
        elif function and line.startswith("|") and not line.startswith("|-"):
            cells = [c.strip() for c in line.strip().strip("|").split("|")]
            if not names:
                names = cells[1:]
                continue
            times = {n: float(re.match(r"[0-9.]+", c).group()) for n, c in zip(names, cells[1:]) if c != "–"}
            tables.setdefault(function, {})[cells[0]] = times
    return tables


def picture(tables):
    rows = [f for f in FUNCTIONS if f in tables] or list(tables)[:4]
    mechanism = MECHANISM if all(MECHANISM in tables[f] for f in rows) else next(iter(tables[rows[0]]))
    top = max(max(t.values()) / t["Catena"] for t in (tables[f][mechanism] for f in rows))
    decades = math.ceil(math.log10(top / ORIGIN) * 2) / 2
    width, left, bar, out, y = 760, 150, 17, [], 44
    scale = (width - left - 130) / decades

    def text(x, y, words, size=12, anchor="start", weight="normal", fill="#1b1f24"):
        out.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
                   f'font-weight="{weight}" fill="{fill}">{words}</text>')

    text(16, 24, f"Time of a call over Catena's: {mechanism} degrees of freedom", 15, weight="bold")
    for function in rows:
        times = tables[function][mechanism]
        y += 22
        text(16, y, function, 13, weight="bold")
        y += 7
        for name, ns in sorted(times.items(), key=lambda item: item[1]):
            ratio = ns / times["Catena"]
            length = max(3.0, math.log10(ratio / ORIGIN) * scale)
            text(left - 8, y + bar - 5, name, anchor="end")
            out.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{bar - 4}" '
                       f'fill="{COLOURS.get(name, OTHER)}"/>')
            shown = f"{ns:,.0f} ns" + ("" if name == "Catena" else f", {ratio:.3g} times")
            text(left + length + 6, y + bar - 6, shown, 11, fill="#424a53")
            y += bar
    text(left, y + 22, "logarithmic scale from half of Catena's time on; shorter is faster", 11, fill="#424a53")
    height = y + 36
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" font-family="Helvetica, Arial, sans-serif">\n'
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n' + "\n".join(out) + "\n</svg>\n")


if __name__ == "__main__":
    tables = read(sys.argv[1])
    if not tables:
        sys.exit(f"{sys.argv[1]}: no tables of all libraries")
    with open(sys.argv[2], "w", encoding="utf-8") as svg:
        svg.write(picture(tables))
