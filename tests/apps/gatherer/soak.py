"""Gatherers in trouble for as long as one likes: `python -m tests.apps.gatherer.soak 3 10`.

The numbers are gatherers and kills. It tells what is not as it should be; nothing is best.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from grandstand.apps.gatherer.service.asking.books import Books
from tests.apps.gatherer.comparing import asked, instants, kept, misplaced, missed
from tests.apps.gatherer.gathering import Gathered, Phase, gathered, in_folders
from tests.apps.gatherer.heard import union


def told(done: Gathered) -> list[str]:
    """Answer the findings, one a line."""
    span = (done.begun, done.ended)
    merged = kept(done.merged)
    heard = union(each.deltas for each in done.told)
    random = instants(done.world, span, 1000)
    sure, wrong, doubts = asked(Books(done.merged, merged=True), done.world, random)
    own = [asked(Books(it.engine), done.world, random[:300]) for it in done.sources]
    return [
        f"{done.script.deltas.total()} deltas happened, {merged.total()} are merged",
        f"{(heard - merged).total()} were heard and not kept",
        f"{(merged - done.script.deltas).total()} were kept and never happened",
        f"{ {name: len(each) for name, each in missed(done).items()} } are in no gap",
        f"{len(misplaced(done))} merged books are not true where they are placed",
        f"{sure} of 1000 merged books were called exact, {len(wrong)} of them wrong: {wrong[:3]}",
        f"own books called exact and wrong: {[(s, w[:3]) for s, w, _ in own]}",
        *(f"{count} in doubt: {why}" for why, count in Counter(doubts).most_common(8)),
    ]


if __name__ == "__main__":
    gatherers, kills = (int(each) for each in (*sys.argv[1:], "3", "1")[:2])
    with (
        tempfile.TemporaryDirectory() as folder,
        in_folders() as ordering,
        gathered(ordering, gatherers, Path(folder), Phase(kills=kills)) as done,
    ):
        sys.stdout.write("\n".join(told(done)) + "\n")
