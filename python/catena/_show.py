"""repr of results: their numbers, long arrays by their shapes."""
from __future__ import annotations

import inspect
from typing import Any

import numpy as np

# Arrays up to this size, and lists up to this length, are written out.
SHORT = 6
LONG = 120  # letters


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        if value.size > SHORT:
            return f"<array {value.shape}>"
        return np.array2string(value, separator=", ", precision=6, max_line_width=10**6)
    if isinstance(value, (list, tuple)) and len(value) > SHORT:
        return f"<{len(value)} of {type(value[0]).__name__}>"
    if isinstance(value, (list, tuple)):
        inside = ", ".join(_text(entry) for entry in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, str) and len(value) > LONG:
        return f"<{len(value)} letters>"
    if isinstance(value, (bool, int, str, complex)) or value is None:
        return repr(value)
    name = getattr(value, "name", None)
    if hasattr(type(value), "__members__"):
        return str(name)
    return f"<{type(value).__name__}{f' {name!r}' if isinstance(name, str) else ''}>"


def _repr(self: Any) -> str:
    cls = type(self)
    parts = []
    for name, member in vars(cls).items():
        if name.startswith("_") or not isinstance(member, property):
            continue
        try:
            parts.append(f"{name}={_text(getattr(self, name))}")
        except Exception:  # what this one does not have
            continue
    return f"{cls.__name__}({', '.join(parts)})"


def show_results(module: Any) -> None:
    """Adds a repr to every result class that has none."""
    for cls in vars(module).values():
        if not inspect.isclass(cls) or issubclass(cls, BaseException):
            continue
        tells = any(isinstance(member, property) for member in vars(cls).values())
        if tells and cls.__repr__ is object.__repr__:
            setattr(cls, "__repr__", _repr)
