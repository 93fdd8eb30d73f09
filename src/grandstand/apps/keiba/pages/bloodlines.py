"""Kept here: five generations of a horse as the rows of a table, and who stands there twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from grandstand.apps.keiba.model import Ancestor, Pedigree

GENERATIONS: Final = 5


@dataclass(frozen=True, slots=True)
class Kin:
    """One cell of the table: an ancestor over so many rows; `cross` when it stands there twice."""

    path: str
    ancestor: Ancestor | None
    rows: int
    cross: str

    @property
    def sire(self) -> bool:
        """Whether it is a father of somebody in the table."""
        return self.path.endswith("S")


@dataclass(frozen=True, slots=True)
class Cross:
    """An ancestor met more than once, by the generations it is met in: 3 × 4."""

    id: str
    name: str
    where: str


def rows_of(pedigree: Pedigree) -> tuple[tuple[Kin, ...], ...]:
    """Answer the cells of the table row by row, each ancestor beside its first parent."""
    met = {cross.id: cross.where for cross in crosses(pedigree)}
    known = {one.path: one for one in pedigree.ancestors}
    return tuple(
        tuple(
            _kin(_path(row, depth), known, met)
            for depth in range(1, GENERATIONS + 1)
            if row % (2 ** (GENERATIONS - depth)) == 0
        )
        for row in range(2**GENERATIONS)
    )


def crosses(pedigree: Pedigree) -> tuple[Cross, ...]:
    """Answer who is met more than once, the nearest first.

    Whoever is met twice only as a parent of another cross is left out: it says nothing more.
    """
    places: dict[str, list[Ancestor]] = {}
    for one in pedigree.ancestors:
        if one.id is not None:
            places.setdefault(one.id, []).append(one)
    twice = {key: held for key, held in places.items() if len(held) > 1}
    paths = {one.path for held in twice.values() for one in held}
    found = [
        Cross(key, held[0].name or key, " × ".join(str(one.generation) for one in held))
        for key, held in twice.items()
        if not all(one.path[:-1] in paths for one in held)
    ]
    return tuple(sorted(found, key=lambda cross: cross.where))


def _kin(path: str, known: Mapping[str, Ancestor], met: Mapping[str, str]) -> Kin:
    ancestor = known.get(path)
    cross = "" if ancestor is None or ancestor.id is None else met.get(ancestor.id, "")
    return Kin(path, ancestor, 2 ** (GENERATIONS - len(path)), cross)


def _path(row: int, depth: int) -> str:
    """The way to the cell of a generation that begins in a row: the row's first bits."""
    return "".join("D" if row >> (GENERATIONS - step) & 1 else "S" for step in range(1, depth + 1))
