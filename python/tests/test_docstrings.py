"""help() has something to say about everything that is public."""
import ast
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


# "(freedoms,)", "(2n, inputs)", "(6 - d, 6 - d)", "(n, 10 · bodies)".
SHAPE = re.compile(r"\([\w. ·+−-]+,[^)]*\)")


def returned(node):
    """What a function of the stubs returns."""
    return "" if node.returns is None else ast.unparse(node.returns)


def test_arrays_tell_their_shapes(source):
    """Whatever gives an array, by the stubs, says of which shape."""
    tree = ast.parse((source / "python/catena/_catena.pyi").read_text(encoding="utf-8"))
    scopes = [(catena, "", tree.body)]
    scopes += [
        (getattr(catena, node.name), node.name + ".", node.body)
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    checked, silent = 0, []
    for scope, prefix, nodes in scopes:
        for node in nodes:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            if "Array" in returned(node):
                checked += 1
                if not SHAPE.search(said(getattr(scope, node.name))):
                    silent.append(prefix + node.name)
    assert checked > 200
    assert silent == []


def test_arguments_that_are_arrays_are_described():
    """Of the functions: what takes numbers by freedom says so of all of them once, here the rest."""
    silent = []
    for name in catena.__all__:
        function = getattr(catena, name)
        if not inspect.isbuiltin(function):
            continue
        signature = (function.__doc__ or "").partition("\n")[0]
        for argument, kind in re.findall(r"(\w+): (Vector3|Vector6|Matrix3|Matrix|Vector)\b", signature):
            if argument not in said(function):
                silent.append(f"{name}({argument}: {kind})")
    assert silent == []
