"""Kept here: the table of a horse's five generations."""

from __future__ import annotations

from typing import Final

from grandstand.simulators.racing.breeding import Ancestor
from grandstand.simulators.racing.population import Horse
from grandstand.simulators.racing.world import World

_GENERATIONS: Final = 5
_ROWS: Final = 2**_GENERATIONS


def pedigree(world: World, horse: Horse | Ancestor) -> str:
    """Answer the table: the sire and his line above, the dam and hers below."""
    rows: list[list[str]] = [[] for _ in range(_ROWS)]
    families = world.people.families
    parents = (horse.sire, horse.dam) if isinstance(horse, Horse) else families.parents(horse)
    level: list[Ancestor] = list(parents)
    for generation in range(1, _GENERATIONS + 1):
        span = _ROWS >> generation
        for at, ancestor in enumerate(level):
            rows[at * span].append(_cell(ancestor, span))
        level = [parent for ancestor in level for parent in families.parents(ancestor)]
    shown = "".join(f"<tr>\n{''.join(cells)}</tr>\n" for cells in rows)
    return (
        '<table class="blood_table detail" summary="5代血統表">\n'
        f"<tbody>\n{shown}</tbody>\n</table>\n"
    )


def _cell(ancestor: Ancestor, span: int) -> str:
    kind = "b_ml" if ancestor.sex == "sire" else "b_fml"
    rows = f' rowspan="{span}"' if span > 1 else ""
    foreign = f"<br>\n{ancestor.english}({ancestor.country})" if ancestor.country else ""
    family = f"<br>\nFNo.[{ancestor.family}]" if ancestor.sex == "dam" and span > 1 else ""
    own = f'[<a href="/horse/ped/{ancestor.id}/">血統</a>]'
    foals = f'[<a href="/horse/sire/{ancestor.id}/">産駒</a>]'
    return (
        f'<td{rows} class="{kind}">\n<a href="/horse/{ancestor.id}/">{ancestor.name}{foreign}</a>'
        f"<br>\n{ancestor.born} {ancestor.coat}<br>\n{own}{foals}{family}\n</td>\n"
    )
