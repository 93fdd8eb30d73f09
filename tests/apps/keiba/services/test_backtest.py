"""The ranking held against kept results, with nothing known that was not known then."""

from dataclasses import replace
from datetime import timedelta

import pytest

from grandstand.apps.keiba.sources.html_reader import Parsed
from grandstand.core.clock import ManualClock
from grandstand.core.errors import InvalidInput
from tests.apps.keiba.stage import NOON, SUNDAY, Stage

pytestmark = pytest.mark.anyio

RUN = "202603030201"
"""The first race of that Sunday at Fukushima, which is over by noon."""


@pytest.fixture
async def over(gathered: Stage) -> Stage:
    """A keiba with one race that is run and all that is known of its runners, and one without."""
    gathered.site.clock = ManualClock(NOON + timedelta(hours=8))
    await gathered.keiba.pages.result(gathered.small)
    await gathered.keiba.pages.result(RUN)
    return gathered


async def test_cached_races_are_measured_and_nothing_is_fetched(over: Stage) -> None:
    asked = len(over.requested())

    tested = await over.keiba.backtester.run(SUNDAY, SUNDAY)

    assert (tested.races, tested.skipped, tested.market_races) == (1, 1, 1)
    assert tested.log_loss is not None
    assert tested.uniform_loss is not None
    assert tested.market_loss is not None
    assert tested.log_loss == tested.our_market_loss
    assert sum(each.runners for each in tested.calibration) == 10
    assert tested.account.staked_yen == 100 * tested.account.bets
    assert len(over.requested()) == asked


async def test_days_without_results_measure_nothing(over: Stage) -> None:
    before = SUNDAY - timedelta(days=1)

    tested = await over.keiba.backtester.run(before, before)

    assert (tested.races, tested.skipped, tested.log_loss) == (0, 0, None)
    with pytest.raises(InvalidInput):
        await over.keiba.backtester.run(SUNDAY, before)


async def test_neither_the_race_itself_nor_the_jockeys_figures_are_looked_at(sunday: Stage) -> None:
    library = sunday.keiba.pages
    await sunday.keiba.cards.assemble(RUN)
    await sunday.keiba.pages.result(RUN)
    tested = await sunday.keiba.backtester.run(SUNDAY, SUNDAY)
    race = sunday.world.race(RUN)
    assert race is not None
    for horse in race.horses:
        form = (await library.form(horse.id)).value
        runs = tuple(run for run in form.recent_results if run.run_on < SUNDAY)
        key = library.kinds.form.key(horse_id=horse.id)
        await library.cache.put(key, Parsed(replace(form, recent_results=runs)))
    for jockey in {each.id for each in race.finish.jockeys}:
        await library.cache.forget(library.kinds.jockey.key(jockey_id=jockey))

    again = await sunday.keiba.backtester.run(SUNDAY, SUNDAY)

    assert again == tested
