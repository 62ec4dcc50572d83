"""Functions of the extension in pickles: by name, as those of Python, so that a pool of processes can
be told to call them. pybind11 alone would try to pickle a capsule that stands behind each."""
from __future__ import annotations

import copyreg
import importlib
from types import BuiltinFunctionType
from typing import Any

from . import _catena


def _named(name: str) -> Any:
    return getattr(importlib.import_module("catena._catena"), name)


def _reduce(function: Any) -> Any:
    if vars(_catena).get(function.__name__) is function:
        return _named, (function.__name__,)
    return function.__reduce__()  # of any other builtin function: what it says itself


copyreg.pickle(BuiltinFunctionType, _reduce)  # type: ignore[arg-type]
