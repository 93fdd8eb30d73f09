"""Things no module may contain, found in its syntax tree."""

import ast
from collections.abc import Iterator
from functools import cache

import pytest

from tests.architecture.tree import SOURCE, parsed, python_files, shown

_ENVIRONMENT = {"os.environ", "os.environb", "os.getenv", "os.putenv"}
_CLOCKS = {
    "date.today",
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
    "datetime.now",
    "datetime.today",
    "datetime.utcnow",
    "time.time",
    "time.time_ns",
}
_PLUGINS = {
    "importlib.metadata.entry_points",
    "metadata.entry_points",
    "pkgutil.iter_modules",
    "pkgutil.walk_packages",
}


def _dotted(node: ast.Attribute) -> str:
    """A name as it is written; what is an attribute of a call or an index has no name."""
    inner = node.value
    if isinstance(inner, ast.Attribute):
        return f"{_dotted(inner)}.{node.attr}"
    return f"{inner.id if isinstance(inner, ast.Name) else ''}.{node.attr}"


def _uses(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every dotted name read, and every name taken by `from … import`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.lineno, _dotted(node)
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                yield node.lineno, f"{node.module}.{name.name}"


@cache
def _all_uses() -> tuple[tuple[str, int, str], ...]:
    return tuple(
        (shown(path), line, name)
        for path in python_files(SOURCE)
        for line, name in _uses(parsed(path))
    )


def _found(names: set[str], *, except_in: str) -> list[str]:
    return [
        f"{path}:{line} {name}"
        for path, line, name in _all_uses()
        if name in names and path != f"src/grandstand/{except_in}"
    ]


def test_the_environment_is_read_only_in_host_settings() -> None:
    assert _found(_ENVIRONMENT, except_in="host/settings.py") == []


def test_wall_clock_is_read_only_in_core_clock() -> None:
    assert _found(_CLOCKS, except_in="core/clock.py") == []


def test_nothing_scans_for_plugins() -> None:
    assert _found(_PLUGINS, except_in="") == []


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import os\nos.environ['A']", "os.environ"),
        ("from os import environ", "os.environ"),
        ("import time\ntime.time()", "time.time"),
        ("from datetime import datetime\ndatetime.now()", "datetime.now"),
    ],
)
def test_both_ways_of_reaching_for_a_name_are_seen(code: str, name: str) -> None:
    assert name in [used for _, used in _uses(ast.parse(code))]
