"""The build backend of `pip install .` (PEP 517): CMake builds, this file packs.

It has no dependencies of its own: a wheel is a zip file with a list of its contents.
CATENA_BUILD_JOBS sets how many compilers run at once, CATENA_BUILD_DIR the build folder, and
CMAKE_ARGS more arguments for CMake.

The build folder is build/pip-... of the source tree and stays there: what was interrupted goes on,
a second installation compiles what has changed, and a compiler cache sees paths that it knows.
"""
from __future__ import annotations

import base64
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Dict, List, Optional

ROOT = Path(__file__).resolve().parents[2]


def _version() -> str:
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    match = re.search(r"project\(catena VERSION ([0-9.]+)", text)
    if match is None:
        raise SystemExit("backend: no version in CMakeLists.txt")
    return match.group(1)


def _metadata() -> str:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return (
        "Metadata-Version: 2.1\n"
        "Name: catena\n"
        f"Version: {_version()}\n"
        "Summary: Dynamics and control of articulated mechanisms\n"
        "License: BSD-3-Clause\n"
        "Requires-Python: >=3.9\n"
        "Requires-Dist: numpy\n"
        'Requires-Dist: matplotlib; extra == "plot"\n'
        "Provides-Extra: plot\n"
        "Description-Content-Type: text/markdown\n"
        f"\n{readme}"
    )


def _tag() -> str:
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}-{platform}"


def _run(command: List[str]) -> None:
    print("+ " + " ".join(command), flush=True)
    subprocess.run(command, check=True)


def _build_folder(spare: Path) -> Path:
    """`spare` where the source tree cannot be written."""
    chosen = os.environ.get("CATENA_BUILD_DIR")
    if chosen:
        return Path(chosen)
    return ROOT / "build" / f"pip-{_tag()}" if os.access(ROOT, os.W_OK) else spare


def _generator(build: Path) -> List[str]:
    """Ninja where it is installed, unless the user or an earlier build has chosen."""
    chosen = "CMAKE_GENERATOR" in os.environ or (build / "CMakeCache.txt").exists()
    return [] if chosen or shutil.which("ninja") is None else ["-G", "Ninja"]


def _build(stage: Path, build: Path) -> None:
    jobs = os.environ.get("CATENA_BUILD_JOBS", str(os.cpu_count() or 1))
    _run(
        ["cmake", "-S", str(ROOT), "-B", str(build), *_generator(build)]
        + ["-DCMAKE_BUILD_TYPE=Release"]
        + ["-DCATENA_BUILD_PYTHON=ON", f"-DCATENA_PYTHON={sys.executable}"]
        + ["-DCATENA_BUILD_TESTS=OFF", "-DCATENA_BUILD_APPS=OFF", "-DBUILD_SHARED_LIBS=OFF"]
        + shlex.split(os.environ.get("CMAKE_ARGS", ""))
    )
    _run(["cmake", "--build", str(build), "--parallel", jobs, "--target", "catena_python"])
    _run(
        ["cmake", "--install", str(build), "--component", "python_package"]
        + ["--prefix", str(stage)]
    )


def get_requires_for_build_wheel(settings: Optional[Dict[str, Any]] = None) -> List[str]:
    return []


def get_requires_for_build_sdist(settings: Optional[Dict[str, Any]] = None) -> List[str]:
    return []


def _info() -> Dict[str, bytes]:
    """What a wheel says of itself, by file."""
    info = f"catena-{_version()}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: catena\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
    return {
        f"{info}/METADATA": _metadata().encode(),
        f"{info}/WHEEL": wheel.encode(),
        f"{info}/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: Optional[Dict[str, Any]] = None
) -> str:
    """Without it pip builds the wheel to read this, and then once more."""
    for path, data in _info().items():
        file = Path(metadata_directory) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return f"catena-{_version()}.dist-info"


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[Dict[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    info = f"catena-{_version()}.dist-info"
    name = f"catena-{_version()}-{_tag()}.whl"
    with tempfile.TemporaryDirectory(prefix="catena-wheel-") as folder:
        stage = Path(folder) / "stage"
        _build(stage, _build_folder(Path(folder) / "build"))
        contents = {
            path.relative_to(stage).as_posix(): path.read_bytes()
            for path in sorted(stage.rglob("*"))
            if path.is_file()
        }
    contents.update(_info())
    record = ""
    for path, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    contents[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in contents.items():
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory: str, config_settings: Optional[Dict[str, Any]] = None) -> str:
    base = f"catena-{_version()}"
    files = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], check=True, capture_output=True, text=True
    ).stdout.split("\0")
    with tarfile.open(Path(sdist_directory) / f"{base}.tar.gz", "w:gz") as archive:
        for file in files:
            if file and (ROOT / file).is_file():
                archive.add(ROOT / file, f"{base}/{file}")
        with tempfile.NamedTemporaryFile("w", suffix="PKG-INFO") as info:
            info.write(_metadata())
            info.flush()
            archive.add(info.name, f"{base}/PKG-INFO")
    return f"{base}.tar.gz"
