"""Kept here: the orders in which a table's rows can be walked, and the statements that do so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from grandstand.storage.tables.engines.sqlite.ordered.keys import Part
from grandstand.storage.tables.schema import IndexSchema

# How many leading columns are fixed, the comparisons with the lower and the upper bound of the
# next, whether a start key is given, and whether the walk goes forward.
Shape: TypeAlias = tuple[int, str, str, bool, bool]


@dataclass(frozen=True, slots=True)
class Way:
    """One order of rows: that of the table's key, or of one of its indexes.

    `parts` are the partition's and the sort key's attributes, then those of the table's key that
    are not among them, so that no two rows are equal in all.
    """

    source: str
    partition: int
    keyed: int
    parts: tuple[Part, ...]
    key_names: frozenset[str]
    sparse: tuple[str, ...] = ()
    index: IndexSchema | None = None
    mask: frozenset[str] | None = None
    statements: dict[Shape, str] = field(default_factory=dict)

    @property
    def remote(self) -> bool:
        """Whether this is a global index, which DynamoDB brings up to date a little later."""
        return self.index is not None and not self.index.local

    def query(self, shape: Shape) -> str:
        """Answer the statement for a query of that shape."""
        found = self.statements.get(shape)
        if found is None:
            found = self.statements[shape] = self._query(shape)
        return found

    def scan(self, *, started: bool, low: bool, high: bool) -> str:
        """Answer the statement for a scan, from a start key or not, of all buckets or some."""
        shape: Shape = (-1, "low" * low, "high" * high, started, True)
        found = self.statements.get(shape)
        if found is None:
            terms = [f"{column} IS NOT NULL" for column in self.sparse]
            if started:
                terms.append(_beyond(self.parts, ">"))
            terms += ["pk >= ?"] * low + ["pk < ?"] * high
            found = self.statements[shape] = self._select(terms, self.parts, forward=True)
        return found

    def _query(self, shape: Shape) -> str:
        fixed, low, high, started, forward = shape
        rest = self.parts[fixed:]
        terms = [f"{part.column} = ?" for part in self.parts[:fixed]]
        terms += [f"{column} IS NOT NULL" for column in self.sparse]
        # A bound on the side of the start key would only tempt the planner to begin there.
        if low and not (started and forward):
            terms.append(f"{rest[0].column} {low} ?")
        if high and not (started and not forward):
            terms.append(f"{rest[0].column} {high} ?")
        if started:
            terms.append(_beyond(rest, ">" if forward else "<"))
        return self._select(terms, rest, forward=forward)

    def _select(self, terms: list[str], rest: tuple[Part, ...], *, forward: bool) -> str:
        where = f" WHERE {' AND '.join(terms)}" if terms else ""
        turn = "" if forward else " DESC"
        order = ", ".join(f"{part.column}{turn}" for part in rest)
        ordered = f" ORDER BY {order}" if order else ""
        return f"SELECT item, size FROM {self.source}{where}{ordered} LIMIT ?"


def _beyond(parts: tuple[Part, ...], comparison: str) -> str:
    columns = ", ".join(part.column for part in parts)
    return f"({columns}) {comparison} ({', '.join('?' * len(parts))})"
