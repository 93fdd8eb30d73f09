"""Kept here: what an operation needs to be carried out: an engine, names, and the time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from grandstand.base.clock import Clock
from grandstand.storage.tables.declaration.table import Naming, Table
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.errors import ConditionFailed

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.declaration.plan import EntityPlan
    from grandstand.storage.tables.operations.queries import Reading

E = TypeVar("E", bound="Entity")


class Names(dict[Table, str]):
    """The physical names of tables, each worked out when it is first asked for."""

    def __init__(self, naming: Naming) -> None:
        super().__init__()
        self._naming = naming

    def __missing__(self, table: Table) -> str:
        name = self[table] = self._naming.physical(table.name)
        return name


class Session:
    """An engine with the names its tables have there, and a clock."""

    def __init__(self, engine: Engine, naming: Naming, clock: Clock) -> None:
        self.engine = engine
        self.naming = naming
        self.clock = clock
        self.names = Names(naming)

    def name(self, table: Table) -> str:
        """Answer the physical name of a table."""
        return self.names[table]

    def each(self, reading: Reading[E]) -> Iterator[E]:
        """Answer the items of a question one by one, reading pages as they are needed."""
        for page in self.pages(reading):
            yield from page

    def pages(self, reading: Reading[E]) -> Iterator[list[E]]:
        """Answer the items of a question a page at a time; a page may be empty."""
        entity, left, start = reading.entity, reading.most, None
        while left is None or left > 0:
            # A filter thins a page after its limit was counted, so only an unfiltered question
            # can ask for exactly what is left.
            limit = left if reading.filter is None else None
            page = reading.page(self, limit, start)
            now = self.clock.epoch()
            kept = [item for item in page.items if reading.keeps(item, now)][:left]
            yield [entity.decode(item) for item in kept]
            if left is not None:
                left -= len(kept)
            start = page.last_key
            if start is None:
                return

    def refuse(self, entity: EntityPlan[Any], refused: ConditionFailed) -> NoReturn:
        """Raise a failed condition again, with what was found as the entity it is."""
        if refused.item is not None and entity.keeps(refused.item, None):
            refused.found = entity.decode(refused.item)
        raise refused
