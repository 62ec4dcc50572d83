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


def test_where_and_how_it_builds(backend, monkeypatch, tmp_path):
    monkeypatch.setattr(backend, "ROOT", tmp_path)
    monkeypatch.setattr(backend.shutil, "which", lambda name: f"/bin/{name}")
    for name in ("CATENA_BUILD_DIR", "CMAKE_GENERATOR", "CMAKE_ARGS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CATENA_BUILD_JOBS", "3")
    spare, commands = tmp_path / "spare", []
    folder = backend._build_folder(spare)
    assert folder.parent == tmp_path / "build"  # it stays, for the next time
    monkeypatch.setattr(backend, "_run", commands.append)
    backend._build(tmp_path / "stage", folder)
    configure, build, install = commands
    assert configure[configure.index("-G") + 1] == "Ninja"
    assert build[build.index("--parallel") + 1] == "3"
    assert install[install.index("--prefix") + 1] == str(tmp_path / "stage")

    folder.mkdir(parents=True)
    (folder / "CMakeCache.txt").touch()  # made with another generator, perhaps
    assert backend._generator(folder) == []
    assert backend._generator(spare) == ["-G", "Ninja"]
    monkeypatch.setenv("CMAKE_GENERATOR", "Unix Makefiles")
    assert backend._generator(spare) == []
    monkeypatch.setattr(backend.os, "access", lambda path, mode: False)
    assert backend._build_folder(spare) == spare
    monkeypatch.setenv("CATENA_BUILD_DIR", str(tmp_path / "mine"))
    assert backend._build_folder(spare) == tmp_path / "mine"
