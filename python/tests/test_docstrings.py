"""help() has something to say about everything that is public."""
import inspect
import re

import catena


def said(x):
    """The words of a docstring, without the signatures that pybind11 puts there."""
    lines = (inspect.getdoc(x) or "").splitlines()
    signature = re.compile(r"(\d+\. )?\w+\(.*\) -> |Overloaded function")
    return " ".join(w for w in lines if w and not signature.match(w))


def public(scope):
    return [(n, getattr(scope, n)) for n in sorted(vars(scope)) if not n.startswith("_")]


def test_functions_and_classes():
    silent = [n for n in catena.__all__ if callable(getattr(catena, n)) and not said(getattr(catena, n))]
    assert silent == []


def test_methods():
    classes = [(n, getattr(catena, n)) for n in catena.__all__ if inspect.isclass(getattr(catena, n))]
    silent = [
        f"{name}.{n}"
        for name, scope in classes
        for n, member in public(scope)
        if callable(member) and not isinstance(member, property) and not said(member)
    ]
    assert silent == []


def test_properties():
    """Fields of settings and results alike, with their shapes and units."""
    silent = []
    for name in catena.__all__:
        scope = getattr(catena, name)
        if inspect.isclass(scope) and not hasattr(scope, "__members__"):
            silent += [f"{name}.{n}" for n, member in public(scope) if not said(member)]
    assert silent == []
