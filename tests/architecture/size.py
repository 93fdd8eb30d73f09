"""Counts modules, lines of code and thin methods of the source.

Run as `python -m tests.architecture.size`.
"""

import ast
import io
import json
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.tree import ROOT, SOURCE, parsed, shown

_NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_WITH_DOCSTRING = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def count_code_lines(path: Path) -> int:
    """Return the lines of a module without blank lines, comments and docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        if token.type not in _NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(parsed(path)):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            lines.difference_update(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return len(lines)


def find_delegating_methods() -> Iterator[str]:
    """Yield the methods whose body is only `return [await] self.x.y(...)`."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef):
                for method in node.body:
                    if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and _delegates(
                        method
                    ):
                        yield f"{shown(path)}:{method.lineno} {node.name}.{method.name}"


def _delegates(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    body = method.body[1:] if ast.get_docstring(method) is not None else method.body
    if len(body) != 1 or not isinstance(body[0], ast.Return):
        return False
    value = body[0].value
    if isinstance(value, ast.Await):
        value = value.value
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    inner = value.func.value
    return (
        isinstance(inner, ast.Attribute)
        and isinstance(inner.value, ast.Name)
        and inner.value.id == "self"
    )


def _api_lines_per_route() -> Iterator[str]:
    openapi = ROOT / "tests" / "surface" / "snapshots" / "openapi.json"
    routes: Counter[str] = Counter()
    for path, operations in json.loads(openapi.read_text(encoding="utf-8"))["paths"].items():
        methods = {"get", "post", "put", "patch", "delete"} & operations.keys()
        routes[path.split("/")[2]] += len(methods)
    for app in sorted(path.name for path in (SOURCE / "apps").iterdir() if path.is_dir()):
        files = [*(SOURCE / "apps" / app).glob("api.py"), *(SOURCE / "apps" / app).glob("api/*.py")]
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
        if files:
            yield f"{app} {lines} / {routes[app]} = {lines / routes[app]:.1f}"


def main() -> None:
    sizes = {path: count_code_lines(path) for path in sorted(SOURCE.rglob("*.py"))}
    modules = [path for path, size in sizes.items() if size or path.name != "__init__.py"]
    sys.stdout.write(
        f"modules: {len(modules)}\n"
        f"lines of code: {sum(sizes.values()):,}\n"
        f"delegating methods: {len([*find_delegating_methods()])}\n"
        f"API lines per route: {'; '.join(_api_lines_per_route())}\n"
    )


if __name__ == "__main__":
    main()
