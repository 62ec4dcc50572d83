#!/usr/bin/env python3
"""links.py SOURCE: every relative link in a page leads to a file, every #anchor to a heading, and every paper cited as
[Jain 2009] has an entry in docs/references.md."""
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


def unknown_keys(source):
    """Citations in pages and sources (file, key) that docs/references.md does not have."""
    known = set(re.findall(r"\*\*\[([^\]]+)\]\*\*", (source / "docs/references.md").read_text(encoding="utf-8")))
    name = r"[A-Z][^\W\d]*(?:['.-][^\W\d]+)*"
    citation = re.compile(rf"\[({name}(?:(?: &|,) {name})*(?: et al\.)? (?:19|20)\d\d)\b")
    files = [*source.glob("docs/**/*.md"), *source.glob("*.md")]
    for folder in ("catena", "apps", "verification"):
        files += [f for f in (source / folder).rglob("*") if f.suffix in (".h", ".cpp", ".inc", ".yaml")]
    for file in files:
        text = re.sub(r"\n\s*(?://|#)\s?", " ", file.read_text(encoding="utf-8", errors="replace"))
        yield from ((file.relative_to(source), key) for key in citation.findall(text) if key not in known)


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
    for file, key in unknown_keys(source):
        print(f"{file}: [{key}] is not in docs/references.md")
        bad += 1
    print(f"{links} links in {len(pages)} pages, {bad} bad")
    sys.exit(1 if bad or not links else 0)


if __name__ == "__main__":
    main()
