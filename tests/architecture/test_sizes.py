"""Modules, functions and parameter lists stay small; what is larger is on a list that shrinks."""

import ast
from collections.abc import Iterator

from tests.architecture.tree import ROOT, SOURCE, parsed, python_files, shown

_LIMITS = {"module": 400, "function": 40, "parameters": 5}
_EXCEPTIONS = ROOT / "tests" / "architecture" / "exceptions.txt"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def _functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    for child in ast.iter_child_nodes(node):
        name = prefix
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}.{child.name}".removeprefix(".")
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield name, child
        yield from _functions(child, name)


def _positional(function: Function) -> int:
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def _sizes() -> Iterator[tuple[str, str, int]]:
    for path in python_files(SOURCE, ROOT / "benchmarks"):
        yield "module", shown(path), len(path.read_text(encoding="utf-8").splitlines())
        for name, function in _functions(parsed(path)):
            lines = (function.end_lineno or function.lineno) - function.lineno + 1
            yield "function", f"{shown(path)}:{name}", lines
            yield "parameters", f"{shown(path)}:{name}", _positional(function)


def _too_large() -> set[str]:
    return {f"{kind} {place} {size}" for kind, place, size in _sizes() if size > _LIMITS[kind]}


def _excepted() -> set[str]:
    lines = _EXCEPTIONS.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def test_nothing_is_larger_than_the_house_allows() -> None:
    assert sorted(_too_large() - _excepted()) == []


def test_every_exception_is_still_needed() -> None:
    assert sorted(_excepted() - _too_large()) == []


def test_a_method_is_measured_without_its_self() -> None:
    tree = ast.parse("class A:\n    def b(self, c, /, d, *, e):\n        pass\n")

    [(name, function)] = _functions(tree)

    assert name == "A.b"
    assert _positional(function) == 2
