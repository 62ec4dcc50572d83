"""Writes the type stubs of the extension module from what it says of itself.

    PYTHONPATH=build/release/python /usr/bin/python3 python/tools/stubs.py > python/catena/_catena.pyi

pybind11 puts a signature in front of every docstring. The names of types in it are those of
src/support/casters.h and arguments.h; here they become what a type checker knows. A test compares the
stubs in the source tree with these.
"""
from __future__ import annotations

import inspect
import re
import sys
from typing import Any, List, Tuple

HEADER = '''\
# Made by python/tools/stubs.py; do not edit.
import os
from typing import Any, Callable, Dict, ClassVar, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
# Numbers by freedom: an array (freedoms,), or by name; None: zeros.
FreedomVector = Union[npt.ArrayLike, Mapping[str, Any], None]
# A position: a State, q, or by name (the rest as in the default state).
PositionVector = Union["State", npt.ArrayLike, Mapping[str, Any], None]
# Numbers of many states, one row for each (B, n); None: zeros.
BatchVector = Optional[npt.ArrayLike]
# Where a mechanism is: an updated Workspace, a State, q, or by name.
Where = Union["Workspace", "State", npt.ArrayLike, Mapping[str, Any]]
BodyName = Union[str, int]
HingeName = Union[str, int]
FrameName = Union[str, int]
# Freedoms: names, indices, or a mask.
Freedoms = Union[str, Iterable[Union[str, int]], npt.NDArray[np.bool_], None]
Wrenches = Union["ExternalWrench", Mapping[str, Any], Iterable[Union["ExternalWrench", Mapping[str, Any]]], None]
Pose = Union["Transform", npt.ArrayLike]
# Goals of inverse kinematics: targets by the name of a body or frame, or a list of goals.
Goals = Union[Mapping[str, Any], Iterable[Union["PointGoal", "FrameGoal", Mapping[str, Any]]], None]
'''

# As an argument, as a result.
ARRAYS = {"Vector", "Vector3", "Vector6", "Matrix", "Matrix3"}
SAME = {
    "FreedomVector", "PositionVector", "BatchVector", "Where", "BodyName", "HingeName", "FrameName", "Freedoms",
    "Wrenches", "Pose", "Goals",
}  # fmt: skip
PLAIN = {
    "float": "float", "complex": "complex", "int": "int", "bool": "bool", "str": "str", "None": "None", "bytes": "bytes",
    "object": "Any", "dict": "Mapping[str, Any]", "tuple": "Tuple[Any, ...]", "list": "List[Any]",
    "function": "Callable[..., Any]", "handle": "Any", "args": "Any", "kwargs": "Any",
    "Callable": "Callable[..., Any]", "capsule": "Any",
}  # fmt: skip


def split_top(text: str, separator: str = ",") -> List[str]:
    """Splits where no bracket is open."""
    parts, depth, start, quote = [], 0, 0, ""
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{<":
            depth += 1
        elif c in ")]}" or (c == ">" and text[i - 1] != "-"):
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    rest = text[start:].strip()
    return parts + ([rest] if rest else [])


class Stubs:
    def __init__(self, module: Any) -> None:
        self.module = module
        self.prefix = module.__name__ + "."

    def type(self, text: str, result: bool) -> str:
        text = text.strip().replace(self.prefix, "")
        if text == "numpy.ndarray[numpy.complex128]":
            return "npt.NDArray[np.complex128]"
        if text == "numpy.ndarray[bool]":
            return "npt.NDArray[np.bool_]"
        if text.startswith("numpy.ndarray") or text in ARRAYS:
            return "Array" if result else "npt.ArrayLike"
        if text == "Out":
            return "Optional[Array]"
        if text in SAME:
            return text
        if text in PLAIN:
            return PLAIN[text]
        if re.fullmatch(r"\w+\[\d+\]", text):  # of a fixed size, inside List[...]
            return self.type(text.partition("[")[0], result)
        match = re.fullmatch(r"([A-Za-z_.]+)\[(.*)\]", text)
        if match:
            outer, inner = match.group(1), match.group(2)
            inside = [self.type(part, result) for part in split_top(inner)]
            if outer == "Choice":
                return f"Union[{inside[0]}, str]"
            if outer == "List":
                return f"List[{inside[0]}]" if result else f"Sequence[{inside[0]}]"
            if outer in ("Tuple", "Optional", "Union", "Dict", "Mapping", "Callable"):
                return f"{outer}[{', '.join(inside)}]"
        if re.fullmatch(r"[A-Za-z_][A-Za-z_0-9.]*", text):
            return text
        raise SystemExit(f"stubs: no type for {text!r}")

    def function(self, name: str, signature: str, keywords: str, indent: str, method: bool) -> str:
        """signature: (a: T, b: U = default) -> R"""
        match = re.fullmatch(r"\((.*)\) -> (.*)", signature, flags=re.DOTALL)
        assert match, (name, signature)
        arguments = []
        for i, part in enumerate(split_top(match.group(1))):
            if part == "*" or part.startswith("*args"):
                arguments.append("*args: Any" if part.startswith("*args") else "*")
                continue
            if part.startswith("**"):
                given = {a.partition(":")[0] for a in arguments}
                left = [k for k in split_top(keywords) if k.partition(":")[0] not in given]
                arguments.append(", ".join(left[1:] if "*" in arguments else left) or "**kwargs: Any")
                continue
            argument, _, rest = part.partition(":")
            if method and i == 0:
                arguments.append("self")
                continue
            kind, has_default, default = rest.partition(" = ")
            text = f"{argument.strip()}: {self.type(kind, False)}"
            if has_default:
                if default.strip() == "None" and "Optional" not in text and "None" not in text:
                    head, _, tail = text.partition(": ")
                    known = tail in ("FreedomVector", "PositionVector", "BatchVector", "Freedoms", "Wrenches")
                    text = text if known else f"{head}: Optional[{tail}]"
                text += " = ..."
            arguments.append(text)
        if any(a.startswith("arg") and a[3:4].isdigit() for a in arguments):
            arguments = [f"__{a}" if a.startswith("arg") else a for a in arguments]
        result = self.type(match.group(2), True)
        return f"{indent}def {name}({', '.join(arguments)}) -> {result}: ..."

    def signatures(self, name: str, doc: str) -> List[Tuple[str, str]]:
        """Of all overloads, with the text of each."""
        if "Overloaded function." in doc.split("\n", 3)[:3]:
            parts = re.split(r"\n\d+\. ", "\n" + doc.split("Overloaded function.", 1)[1].strip())
            chunks = [part for part in parts if part.strip()]
        else:
            chunks = [doc]
        found = []
        for chunk in chunks:
            line, _, text = chunk.partition("\n")
            assert line.startswith(name + "("), (name, line)
            found.append((line[len(name) :].strip(), text.strip()))
        return found

    def fields(self, cls: Any) -> str:
        parts = ["*"] if getattr(cls, "__fields__", ()) else []
        for field in getattr(cls, "__fields__", ()):
            kind = self.property_type(cls, field, False)
            parts.append(f"{field}: {kind} = ...")
        return ", ".join(parts)

    def property_type(self, cls: Any, name: str, result: bool) -> str:
        value = getattr(cls, name)
        (signature, _), = self.signatures("", (value.fget.__doc__ or "").strip())
        kind = signature.rpartition(" -> ")[2]
        text = (value.__doc__ or "").strip()
        values = re.match(r"tuple of (\w+)", text)
        if values and kind == "tuple":
            inner = values.group(1)
            return f"Tuple[{inner}, ...]" if result else f"Iterable[Union[{inner}, Mapping[str, Any]]]"
        hint = re.match(r"list of (\w+)", text)
        if hint and kind in ("list", "object"):
            inner = hint.group(1)
            return f"List[{inner}]" if result else f"Sequence[{inner}]"
        union = re.match(r"(\w+) \| None", text)
        if union and kind == "object":
            return f"Optional[{union.group(1)}]"
        found = self.type(kind, result)
        if not result:  # what a field may be given as
            optional = re.fullmatch(r"Optional\[(\w+)\]", found)
            if ", or a number:" in text:
                found = "Union[float, Sequence[float]]"
            elif "; one alone" in text:
                found = "Union[str, npt.ArrayLike, Sequence[Union[str, npt.ArrayLike]]]"
            elif optional and inspect.isclass(getattr(self.module, optional.group(1), None)):
                found = f"Union[{optional.group(1)}, Mapping[str, Any], None]"
            elif found == "Transform":
                found = "Pose"
            elif inspect.isclass(getattr(self.module, found, None)):
                other = getattr(self.module, found)
                found = f"Union[{found}, str]" if hasattr(other, "__members__") else \
                    f"Union[{found}, Mapping[str, Any]]"
            elif re.fullmatch(r"Sequence\[\w+\]", found):
                inner = found[9:-1]
                if inspect.isclass(getattr(self.module, inner, None)):
                    found = f"Sequence[Union[{inner}, Mapping[str, Any]]]"
        return found

    def setter_type(self, cls: Any, name: str) -> str:
        (signature, _), = self.signatures("", (getattr(cls, name).fset.__doc__ or "").strip())
        kind = split_top(signature[1:].rpartition(") -> ")[0])[1].partition(":")[2].strip()
        own = self.property_type(cls, name, False)
        return own if kind == "Iterable" or own == "npt.ArrayLike" else self.type(kind, False)

    def keywords(self, doc: str) -> str:
        """add_body(**kwargs): the fields of the struct that the text names."""
        match = re.search(r"fields of (\w+)", doc)
        if match:
            return self.fields(getattr(self.module, match.group(1)))
        match = re.search(r"The settings of a (body|hinge|freedom)", doc)
        if match:
            name = {"body": "Body", "hinge": "Hinge", "freedom": "Freedom"}[match.group(1)]
            return self.fields(getattr(self.module, name + "Settings"))
        return ""

    def members(self, name: str, value: Any, indent: str, method: bool, cls: Any) -> List[str]:
        found = self.signatures(name, value.__doc__ or "")
        lines = []
        for signature, text in found:
            if name in ("__init__", "replace") and hasattr(cls, "__fields__"):
                keywords = self.fields(cls)
            else:
                keywords = self.keywords(text)
            line = self.function(name, signature, keywords, indent, method)
            if len(found) > 1:
                lines.append(f"{indent}@overload")
                line += "  # type: ignore[misc]"  # a State is tried before what it is one of
            if name.startswith("_") and not name.startswith("__"):  # for the package alone
                line = f"{indent}def {name}(*args: Any, **kwargs: Any) -> " + line.rpartition(" -> ")[2]
            lines.append(line.replace("-> Iterator:", "-> Iterator[str]:"))
        return lines

    def enumeration(self, cls: Any) -> List[str]:
        lines = [f"class {cls.__name__}:"]
        lines += [f"    {member}: ClassVar[{cls.__name__}]" for member in cls.__members__]
        lines += [
            f"    __members__: ClassVar[Mapping[str, {cls.__name__}]]",
            "    def __init__(self, value: int) -> None: ...",
            "    def __int__(self) -> int: ...",
            "    @property",
            "    def name(self) -> str: ...",
            "    @property",
            "    def value(self) -> int: ...",
        ]
        return lines

    def cls(self, cls: Any) -> List[str]:
        if hasattr(cls, "__members__"):
            return self.enumeration(cls)
        if issubclass(cls, BaseException):
            bases = ", ".join(b.__name__ for b in cls.__bases__)
            lines = [f"class {cls.__name__}({bases}):"]
            if cls.__name__ == "ModelError":
                return lines + ["    problems: List[Diagnostic]"]
            return lines + ["    ..."]
        bases = [b.__name__ for b in cls.__bases__ if b.__module__ == self.module.__name__]
        lines = [f"class {cls.__name__}" + (f"({', '.join(bases)}):" if bases else ":")]
        skipped = {"__module__", "__doc__", "__fields__", "__getstate__", "__setstate__", "__new__"}
        for name, value in sorted(vars(cls).items()):
            if name in skipped:
                continue
            if isinstance(value, property):
                lines += ["    @property",
                          f"    def {name}(self) -> {self.property_type(cls, name, True)}: ..."]
                if value.fset is not None:
                    lines += [f"    @{name}.setter",
                              f"    def {name}(self, value: {self.setter_type(cls, name)}) -> None: ..."]
            elif isinstance(value, staticmethod):
                lines.append("    @staticmethod")
                lines += self.members(name, getattr(cls, name), "    ", False, cls)
            elif inspect.isclass(value):
                inner = self.cls(value)
                lines += ["    " + line.replace(f"[{value.__name__}]", f"[\"{cls.__name__}.{value.__name__}\"]")
                          .replace(f", {value.__name__}]", f", \"{cls.__name__}.{value.__name__}\"]")
                          for line in inner]
            elif name == "__hash__" and value is None:
                lines.append("    __hash__: ClassVar[None]  # type: ignore[assignment]")
            elif name in ("__repr__", "__str__"):
                lines.append(f"    def {name}(self) -> str: ...")
            elif name == "__eq__":
                lines.append("    def __eq__(self, other: object) -> bool: ...")
            elif name == "__setattr__":
                continue
            elif name == "__init__" and (value.__doc__ or "").startswith("Initialize self"):
                continue  # not made from Python
            elif callable(value):
                lines += self.members(name, value, "    ", True, cls)
            else:
                raise SystemExit(f"stubs: {cls.__name__}.{name} is a {type(value).__name__}")
        return lines if len(lines) > 1 else lines + ["    ..."]

    def text(self) -> str:
        classes, functions, modules = [], [], []
        for name, value in sorted(vars(self.module).items()):
            if name.startswith("__"):
                continue
            if inspect.ismodule(value):  # the package catena.control says what is in it
                modules.append(name)
            elif inspect.isclass(value):
                classes.append((name, value))
            elif callable(value):
                functions.append((name, value))
            elif name != "rooms":
                raise SystemExit(f"stubs: {name} is a {type(value).__name__}")
        # A base class stands before its children.
        classes.sort(key=lambda c: (len(c[1].__mro__) if issubclass(c[1], BaseException) else 0, c[0]))
        lines = [HEADER, "__version__: str", "rooms: Tuple[str, ...]", *(f"{name}: Any" for name in modules), ""]
        for _, value in classes:
            lines += self.cls(value) + [""]
        for name, value in functions:
            lines += self.members(name, value, "", False, None)
        text = "\n".join(lines) + "\n"
        return text


def stub_text() -> str:
    import catena._catena

    return Stubs(catena._catena).text()


if __name__ == "__main__":
    sys.stdout.write(stub_text())
