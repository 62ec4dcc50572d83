"""The tutorials run, from another folder, as a user would run them."""
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import SOURCE

TUTORIALS = sorted((SOURCE / "python" / "tutorials").glob("*.py"))


@pytest.mark.parametrize("script", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial(script, tmp_path):
    answer = subprocess.run(
        [sys.executable, "-W", "error", script], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout
    assert not list(Path(tmp_path).iterdir())  # nothing is left behind


def test_there_are_tutorials():
    assert len(TUTORIALS) >= 5
