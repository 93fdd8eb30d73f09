"""What it means for two answers to agree, and where DynamoDB Local is known not to be AWS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.storage.tables.against_amazon.clients import Answer, Shape


@dataclass(frozen=True)
class Asked:
    """A request, and whether the order of what it answers is promised."""

    operation: str
    parameters: Shape
    ordered: bool


def agreed(asked: Asked, theirs: Answer, ours: Answer) -> None:
    """Compare two answers; raise AssertionError unless they agree or differ in a known way."""
    if seen(asked, ours) != seen(asked, theirs):
        assert any(known.holds(asked, theirs, ours) for known in KNOWN), (asked, theirs, ours)


def seen(asked: Asked, answer: Answer) -> Any:
    """What of an answer is compared."""
    body = {name: canonical(part) for name, part in answer.body.items() if name in _COMPARED}
    if not asked.ordered and "Items" in body:
        body["Items"] = sorted(map(repr, body["Items"]))
    if "Responses" in body:
        body["Responses"] = {
            name: sorted(map(repr, items)) for name, items in body["Responses"].items()
        }
    if "CancellationReasons" in body:
        body["CancellationReasons"] = [reason.get("Code") for reason in body["CancellationReasons"]]
    return answer.error, body


_COMPARED = (
    "Attributes",
    "Item",
    "Items",
    "Count",
    "ScannedCount",
    "LastEvaluatedKey",
    "Responses",
    "CancellationReasons",
    "UnprocessedItems",
)


@dataclass(frozen=True)
class Difference:
    """One way in which Local is not AWS: what each does, and how to tell that this is it."""

    local: str
    aws: str
    holds: Callable[[Asked, Answer, Answer], bool]


def _unprojected(_asked: Asked, theirs: Answer, ours: Answer) -> bool:
    return theirs.error is None and "does not project one or more filter" in ours.message


def _refused_update(_asked: Asked, theirs: Answer, ours: Answer) -> bool:
    reasons = ours.body.get("CancellationReasons", [])
    refused = [reason for reason in reasons if reason["Code"] == "ValidationError"]
    return theirs.error == "ValidationException" and bool(refused)


def _one_item_twice(asked: Asked, theirs: Answer, ours: Answer) -> bool:
    return (
        asked.operation == "TransactWriteItems"
        and theirs.error in ("TransactionCanceledException", "ValidationException")
        and ours.message == "Transaction request cannot include multiple operations on one item"
    )


def _end_of_range(asked: Asked, theirs: Answer, ours: Answer) -> bool:
    if "#n1" not in asked.parameters.get("KeyConditionExpression", ""):
        return False
    if theirs.message == "The provided starting key does not match the range key predicate":
        return ours.error is None and ours.body["Count"] == 0
    without = {name: part for name, part in ours.body.items() if name != "LastEvaluatedKey"}
    return bool(seen(asked, Answer(ours.error, "", without)) == seen(asked, theirs))


def _touched_paths(asked: Asked, theirs: Answer, ours: Answer) -> bool:
    if not str(asked.parameters.get("ReturnValues", "")).startswith("UPDATED"):
        return False
    held = (canonical(answer.body.get("Attributes", {})) for answer in (theirs, ours))
    return theirs.error is None and ours.error is None and _within(*held)


def _within(whole: Any, part: Any) -> bool:
    """Return whether a part was taken out of the whole; list elements keep their order."""
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(name in whole and _within(whole[name], part[name]) for name in part)
    if isinstance(whole, list) and isinstance(part, list):
        left = iter(whole)
        return all(any(_within(candidate, wanted) for candidate in left) for wanted in part)
    return bool(whole == part)


KNOWN = (
    Difference(
        local="answers UPDATED_OLD and UPDATED_NEW with whole top-level attributes",
        aws="answers only the paths the update touched",
        holds=_touched_paths,
    ),
    Difference(
        local="filters by an attribute the index does not hold, and finds nothing",
        aws="ValidationException: Secondary index … does not project one or more filter attributes",
        holds=_unprojected,
    ),
    Difference(
        local="ends a transaction whose update cannot be applied with ValidationException",
        aws="TransactionCanceledException with ValidationError among its reasons",
        holds=_refused_update,
    ),
    Difference(
        local="looks at conditions before it sees that two actions are for one item",
        aws="ValidationException: Transaction request cannot include multiple operations …",
        holds=_one_item_twice,
    ),
    Difference(
        local="leaves the last key out when Limit is reached at the end of a range, and refuses it",
        aws="gives LastEvaluatedKey whenever Limit was reached, and takes it back",
        holds=_end_of_range,
    ),
)


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
