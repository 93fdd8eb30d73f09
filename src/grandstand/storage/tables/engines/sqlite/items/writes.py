"""Kept here: writing one item."""

from __future__ import annotations

from grandstand.storage.tables.engines.sqlite.file.connections import Lane
from grandstand.storage.tables.engines.sqlite.items.steps import DONE, aim, answer, carry_out, weigh
from grandstand.storage.tables.engines.sqlite.tables.catalogue import layout_of
from grandstand.storage.tables.engines.sqlite.tables.layout import Layout
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.expressions.nodes import Condition, Missing
from grandstand.storage.tables.requests import DeleteItem, PutItem, UpdateItem, Written


def put(lane: Lane, request: PutItem) -> Written:
    """Write one item; raise ConditionFailed.

    Without a stream, a put that asks nothing about what is there, or only that nothing is, needs
    no look at it: one statement is the whole transaction.
    """
    layout = layout_of(lane, request.table)
    if layout.plain and request.returning == "NONE":
        if request.condition is None:
            lane.write(layout.upsert, layout.row(request.item))
            return DONE
        if not request.show_conflict and _absent(request.condition, layout):
            if lane.write(layout.insert, layout.row(request.item)) == 1:
                return DONE
            raise ConditionFailed
    return _write(lane, request)


def update(lane: Lane, request: UpdateItem) -> Written:
    """Change one item; raise ConditionFailed."""
    return _write(lane, request)


def delete(lane: Lane, request: DeleteItem) -> Written:
    """Remove one item; raise ConditionFailed."""
    layout = layout_of(lane, request.table)
    if layout.plain and request.condition is None and request.returning == "NONE":
        lane.write(layout.remove, layout.locate(request.key))
        return DONE
    return _write(lane, request)


def _absent(condition: Condition, layout: Layout) -> bool:
    """Tell whether a condition demands just that the item is not there: its key is missing."""
    return (
        isinstance(condition, Missing)
        and len(condition.path.steps) == 1
        and condition.path.steps[0] in layout.schema.key_names
    )


def _write(lane: Lane, request: PutItem | UpdateItem | DeleteItem) -> Written:
    aimed = aim(lane, request)
    with lane.writing:
        step = weigh(lane, aimed)
        carry_out(lane, step)
    return answer(lane, step)
