"""The Python in README.md, docs/python.md and docs/cookbook.md runs as it is printed, page by page, in order."""
import re

import pytest

from conftest import SOURCE


def blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/cookbook.md"])
def test_page(page, tmp_path, monkeypatch):
    found = blocks(SOURCE / page)
    assert found
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").symlink_to(SOURCE / "models")
    monkeypatch.setattr("webbrowser.open", lambda url: None)
    names = {"__name__": "__main__"}
    for block in found:
        exec(compile(block, page, "exec"), names)
