"""Keiba: how fast its pages are read and its cards served, and how well its numbers foretell."""

import gc
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness.rows import Limit, Row
from benchmarks.keiba import cards, parsing
from benchmarks.keiba.pages import MORNING, SEED, full_race, pages_of_race
from grandstand.simulators.racing.world import World
from tests.apps.keiba.domain.simulated import forecasts, gap_closed, measured, season

_HORSES, _ALL_HORSES = 4, 18
# The weights were fitted on the worlds of other seeds.
_FORETOLD_SEED = 302
_RACES = 2_000
_YEAR = 2026


def run(*, full: bool) -> list[Row]:
    """Measure every row; `full` reads the pages of all runners and foretells two thousand races."""
    world = World.at(SEED, MORNING)
    pages = pages_of_race(world, full_race(world))
    # The simulated world shares this process: its hundred megabytes are not to be swept.
    gc.collect()
    gc.freeze()
    with TemporaryDirectory() as place:
        return [
            *parsing.rows(pages, horses=_ALL_HORSES if full else _HORSES),
            *cards.rows(world, pages, Path(place)),
            *([foretelling(_RACES)] if full else []),
        ]


def foretelling(races: int) -> Row:
    """How much of the way from even chances to the truth the ranking goes, by log loss."""
    gap = gap_closed(forecasts(measured(islice(season(_FORETOLD_SEED, _YEAR), races))))
    return Row(
        measure=f"way from even chances to the true ones, {gap.races:,} races",
        unit="%",
        ours=100 * gap.share,
        aim=Limit(60),
    )
