"""Where DynamoDB Local is known to answer unlike AWS; ours answers as AWS does."""

from __future__ import annotations

from typing import Any

from tests.storage.tables.against_amazon.speaking import Answer, Shape


def agreed(operation: str, parameters: Shape, theirs: Answer, ours: Answer) -> None:
    """Compare two answers; raise AssertionError unless they agree or differ in a known way."""
    assert ours.error == theirs.error, (operation, parameters, theirs, ours)
    assert canonical(ours.body.get("Attributes")) == canonical(theirs.body.get("Attributes"))
    assert canonical(ours.body.get("Item")) == canonical(theirs.body.get("Item"))
    assert canonical(ours.body.get("Items")) == canonical(theirs.body.get("Items"))
    for name in ("Count", "ScannedCount", "LastEvaluatedKey"):
        assert ours.body.get(name) == theirs.body.get(name), (operation, parameters, theirs, ours)


def canonical(shape: Any) -> Any:
    """Put sets in order, so that only their members are compared."""
    if isinstance(shape, dict):
        return {
            name: sorted(inner) if name in ("SS", "NS", "BS") else canonical(inner)
            for name, inner in sorted(shape.items())
        }
    if isinstance(shape, list):
        return [canonical(inner) for inner in shape]
    return shape
