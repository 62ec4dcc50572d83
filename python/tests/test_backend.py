"""The build backend of `pip install .`: what it says of the package is what pyproject.toml and the module say."""
import importlib.util
from email.parser import Parser

import pytest

import catena


@pytest.fixture
def backend(source):
    spec = importlib.util.spec_from_file_location("backend", source / "python/tools/backend.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_metadata(backend, source, tmp_path):
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    folder = tmp_path / backend.prepare_metadata_for_build_wheel(str(tmp_path))
    assert folder.name == f"catena-{catena.__version__}.dist-info"
    said = Parser().parsestr((folder / "METADATA").read_text(encoding="utf-8"))
    assert said["Name"] == project["name"] and said["Version"] == catena.__version__
    assert said["Summary"] == project["description"]
    assert said["Requires-Python"] == project["requires-python"]
    extras = [f'{name}; extra == "plot"' for name in project["optional-dependencies"]["plot"]]
    assert said.get_all("Requires-Dist") == project["dependencies"] + extras
    wheel = Parser().parsestr((folder / "WHEEL").read_text(encoding="utf-8"))
    assert wheel["Root-Is-Purelib"] == "false"
    tags = pytest.importorskip("packaging.tags")
    assert wheel["Tag"] in {str(tag) for tag in tags.sys_tags()}


def test_every_python_file_is_installed(source):
    """The list in CMakeLists.txt has all of them."""
    text = (source / "python/CMakeLists.txt").read_text(encoding="utf-8")
    listed = text.partition("set(package_files")[2].partition(")")[0].split()
    folder = source / "python/catena"
    found = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert sorted(listed) == sorted(path.relative_to(folder).as_posix() for path in found)
