"""The type stubs are those of the module; the package's own Python passes a type checker."""
import importlib.util
import inspect
import shutil
import subprocess
import sys

import pytest

import catena


def test_the_stubs_match_the_module(source):
    spec = importlib.util.spec_from_file_location("stubs", source / "python/tools/stubs.py")
    stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stubs)
    written = (source / "python/catena/_catena.pyi").read_text(encoding="utf-8")
    assert stubs.stub_text() == written, (
        "run PYTHONPATH=build/release/python /usr/bin/python3 python/tools/stubs.py "
        "> python/catena/_catena.pyi"
    )
    compile(written, "_catena.pyi", "exec")  # it is Python


def test_everything_has_a_docstring():
    for name in catena.__all__:
        thing = getattr(catena, name)
        doc = (thing.__doc__ or "").strip()
        if inspect.isbuiltin(thing):  # pybind11's own line with the signature, and then text
            doc = doc.partition("\n")[2].strip()
        assert doc or inspect.isclass(thing) or name == "rooms", name


def test_type_checker(source):
    if shutil.which("mypy") is None:
        pytest.skip("mypy is not installed")
    files = [str(source / "python/catena")]
    answer = subprocess.run(
        [shutil.which("mypy"), "--python-executable", sys.executable, "--cache-dir=/dev/null"]
        + ["--ignore-missing-imports", *files],
        capture_output=True, text=True, cwd=source / "python",
    )  # fmt: skip
    assert answer.returncode == 0, answer.stdout
