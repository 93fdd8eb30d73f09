"""The ranking held against kept results, with nothing known that was not known then."""

from dataclasses import replace
from datetime import timedelta

import pytest

from grandstand.apps.keiba.service.cache.library import Library
from grandstand.apps.keiba.sources.reading.page import Parsed
from grandstand.base.clock import ManualClock
from grandstand.base.errors import InvalidInput
from tests.apps.keiba.stage import NOON, SUNDAY, Stage

pytestmark = pytest.mark.anyio

RUN = "202603030201"
"""The first race of that Sunday at Fukushima, which is over by noon."""


@pytest.fixture
async def over(gathered: Stage) -> Stage:
    """A keiba with one race that is run and all that is known of its runners, and one without."""
    gathered.site.clock = ManualClock(NOON + timedelta(hours=8))
    await gathered.keiba.result(gathered.small)
    await gathered.keiba.result(RUN)
    return gathered


async def test_kept_races_are_measured_and_nothing_is_fetched(over: Stage) -> None:
    asked = len(over.asked())

    tested = await over.keiba.backtest(SUNDAY, SUNDAY)

    assert (tested.races, tested.left_out, tested.market_races) == (1, 1, 1)
    assert tested.log_loss is not None
    assert tested.uniform_loss is not None
    assert tested.market_loss is not None
    assert tested.log_loss == tested.our_market_loss
    assert sum(each.runners for each in tested.calibration) == 10
    assert tested.account.staked_yen == 100 * tested.account.bets
    assert len(over.asked()) == asked


async def test_days_without_results_measure_nothing(over: Stage) -> None:
    before = SUNDAY - timedelta(days=1)

    tested = await over.keiba.backtest(before, before)

    assert (tested.races, tested.left_out, tested.log_loss) == (0, 0, None)
    with pytest.raises(InvalidInput):
        await over.keiba.backtest(SUNDAY, before)


async def test_neither_the_race_itself_nor_the_jockeys_figures_are_looked_at(sunday: Stage) -> None:
    library = Library(sunday.means)
    await sunday.keiba.card(RUN)
    await sunday.keiba.result(RUN)
    tested = await sunday.keiba.backtest(SUNDAY, SUNDAY)
    race = sunday.world.race(RUN)
    assert race is not None
    for horse in race.horses:
        form = (await library.results(horse.id)).value
        runs = tuple(run for run in form.recent_results if run.run_on < SUNDAY)
        key = library.forms.results.key(horse_id=horse.id)
        await library.cache.put(key, Parsed(replace(form, recent_results=runs)))
    for jockey in {each.id for each in race.finish.jockeys}:
        await library.cache.forget(library.forms.jockey.key(jockey_id=jockey))

    again = await sunday.keiba.backtest(SUNDAY, SUNDAY)

    assert again == tested
