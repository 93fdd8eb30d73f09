"""Gatherers in trouble for as long as one likes: `python -m tests.apps.gatherer.soak 3 10`.

The numbers are gatherers and kills; a third makes another world and other faults. It tells what is
not as it should be; nothing is best.
"""

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from grandstand.apps.gatherer.services.queries.books import BookHistory
from tests.apps.gatherer.comparison import (
    Asked,
    asked,
    heard_whole,
    instants,
    kept,
    misplaced,
    missed,
)
from tests.apps.gatherer.frames import union
from tests.apps.gatherer.gatherers import Gathered, Phase, gathered, in_folders


def told(done: Gathered) -> list[str]:
    """Return the findings, one a line."""
    merged = kept(done.merged)
    heard = union(each.deltas for each in done.told)
    random = instants(done, 1000)
    books = BookHistory(done.merged, merged=True)
    found = asked(books, done.world, random)
    somebody = asked(books, done.world, [it for it in random if heard_whole(done, *it)])
    own = {it.gatherer: asked(BookHistory(it.engine), done.world, random) for it in done.sources}
    return [
        f"{done.script.deltas.total()} deltas happened, {merged.total()} are merged",
        f"{(heard - merged).total()} were heard and not kept",
        f"{(merged - done.script.deltas).total()} were kept and never happened",
        f"{ {name: len(each) for name, each in missed(done).items()} } are in no gap",
        f"{len(misplaced(done))} merged books are not true where they are placed",
        _line("merged books", found, found.wrong),
        _line("where somebody was told everything, merged books", somebody, somebody.untrue),
        *(_line(f"books of {name}", each, each.wrong) for name, each in own.items()),
        *(f"{count} in doubt: {why}" for why, count in kinds(found.doubts).most_common(8)),
    ]


def _line(what: str, found: Asked, bad: Sequence[object]) -> str:
    told = f"of {found.asked} {what} {found.true} are true and {found.exact} called exact"
    return f"{told}; {len(found.wrong)} of these are wrong; to look at: {bad[:3]}"


def kinds(doubts: Counter[str]) -> Counter[str]:
    """Return reasons for doubt without their names and times."""
    found: Counter[str] = Counter()
    for why, count in doubts.items():
        told = re.sub(r" (at|from|after|on connection) .*?(?=;|$)", "", why)
        found[re.sub(r"\b(east|west|north)\b", "one", told)] += count
    return found


if __name__ == "__main__":
    asked_for = [int(each) for each in sys.argv[1:]]
    gatherers, kills, seed = (*asked_for, *(3, 1, 1)[len(asked_for) :])
    with (
        tempfile.TemporaryDirectory() as folder,
        in_folders() as ordering,
        gathered(ordering, gatherers, Path(folder), Phase(kills=kills, seed=seed)) as done,
    ):
        sys.stdout.write("\n".join(told(done)) + "\n")
