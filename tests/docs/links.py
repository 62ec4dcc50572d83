#!/usr/bin/env python3
"""links.py SOURCE: every relative link in a page leads to a file, and every #anchor to a heading."""
import re
import sys
from pathlib import Path


def slug(heading):
    """The anchor that a heading gets: lower case, no punctuation, dashes for spaces."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.strip()).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {slug(heading) for heading in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)}


def main():
    source = Path(sys.argv[1]).resolve()
    pages = [p for p in [*source.glob("*.md"), *source.glob("docs/**/*.md"), *source.glob("benchmarks/*.md")]]
    links = bad = 0
    for page in pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:", link):
                continue
            links += 1
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists():
                print(f"{page.relative_to(source)}: {link}: there is no such file")
                bad += 1
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                print(f"{page.relative_to(source)}: {link}: no heading has this anchor")
                bad += 1
    print(f"{links} links in {len(pages)} pages, {bad} bad")
    sys.exit(1 if bad or not links else 0)


if __name__ == "__main__":
    main()
