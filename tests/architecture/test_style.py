"""Ceilings for style problems.

The `told` that are left match texts that learners write.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.architecture.size import find_delegating_methods
from tests.architecture.tree import SOURCE, parsed, shown

_STOP_LIST = frozenset(
    re.findall(
        r"\w+",
        """
        asking, telling, looking, showing, keeping, watching, walking, lending, judging, building,
        incoming, known, kept, chosen, sought, steady, plain, marks, means, part, parts, rooms,
        words, values, thrift, ground, blemishes, anew, tongue
        """,
    )
)
_DIVIDED = {"apps", "simulators", "storage"}  # each folder in these is a unit of its own


def _modules() -> list[Path]:
    """Return every module, including those in folders called `data`, which `tree` leaves out."""
    return sorted(SOURCE.rglob("*.py"))


def _kept_here_docstrings() -> Iterator[str]:
    for path in _modules():
        if (ast.get_docstring(parsed(path)) or "").startswith("Kept here"):
            yield shown(path)


def _answer_docstrings() -> Iterator[str]:
    for path in _modules():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (
                ast.get_docstring(node) or ""
            ).startswith("Answer"):
                yield f"{shown(path)}:{node.lineno} {node.name}"


def _stop_list_names() -> Iterator[str]:
    for path in _modules():
        if _STOP_LIST.intersection(path.relative_to(SOURCE).with_suffix("").parts):
            yield shown(path)


def _unit(path: Path) -> str:
    """Return the app or layer of a path relative to the source, such as apps/bets or kit."""
    parts = path.with_suffix("").parts
    return "/".join(parts[: 2 if parts[0] in _DIVIDED else 1])


def _duplicate_classes() -> Iterator[str]:
    places = defaultdict(list)
    for path in _modules():
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                unit = _unit(path.relative_to(SOURCE))
                places[unit, node.name].append(f"{shown(path)}:{node.lineno}")
    for (unit, name), found in places.items():
        if len(found) > 1:
            yield f"{unit} {name}: {', '.join(found)}"


def _told() -> Iterator[str]:
    for path in _modules():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for _ in re.finditer(r"\btold\b", line):
                yield f"{shown(path)}:{number} {line.strip()}"


@pytest.mark.parametrize(
    ("find", "ceiling"),
    [
        pytest.param(_kept_here_docstrings, 0, id="kept-here-docstrings"),
        pytest.param(_answer_docstrings, 0, id="answer-docstrings"),
        pytest.param(_stop_list_names, 0, id="stop-list-names"),
        pytest.param(_duplicate_classes, 0, id="duplicate-classes"),
        pytest.param(_told, 4, id="told"),
        pytest.param(find_delegating_methods, 25, id="delegating-methods"),
    ],
)
def test_style_ceiling(find: Callable[[], Iterator[str]], ceiling: int) -> None:
    found = [*find()]

    assert len(found) <= ceiling, "\n".join([f"{len(found)} > {ceiling}, such as:", *found[:10]])


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("apps/bets/service/games.py", "apps/bets"),
        ("storage/tables/keys.py", "storage/tables"),
        ("simulators/exchange.py", "simulators/exchange"),
        ("kit/pages/rendering.py", "kit"),
    ],
)
def test_unit_is_the_app_or_layer(path: str, unit: str) -> None:
    assert _unit(Path(path)) == unit
