"""A race that somebody looked at has its result told once, soon after it is confirmed."""

from datetime import timedelta

import pytest

from grandstand.apps.keiba.service import RESULTED
from grandstand.base.clock import ManualClock
from grandstand.kit.outbox import Consequence
from tests.apps.keiba.stage import ADA, NOON, SUNDAY, Stage

pytestmark = pytest.mark.anyio


@pytest.fixture
async def run(gathered: Stage) -> Stage:
    """The race whose card is kept is run, and its result is out."""
    await gathered.keiba.day(SUNDAY, "jra")
    gathered.clock.advance(5 * 3600)
    gathered.site.clock = ManualClock(NOON + timedelta(hours=5))
    return gathered


async def _waiting(stage: Stage) -> tuple[Consequence, ...]:
    return tuple(await stage.means.outbox.waiting(RESULTED))


async def test_a_result_is_told_once_with_the_first_three_and_a_way_to_it(run: Stage) -> None:
    first, again = await run.keiba.look_for_results(), await run.keiba.look_for_results()

    [noted] = await _waiting(run)
    await run.keiba.tell_resulted(noted)

    result = (await run.keiba.result(run.small)).value
    placed = [one.horse_name for one in result.finishers if one.position in (1, 2, 3)]
    [event] = await run.means.events.recent(10, ADA)
    assert (first, again) == (1, 0)
    assert (event.app, event.kind) == ("keiba", "result")
    assert event.href == f"/keiba/races/{run.small}/result"
    assert event.text.startswith("Fukushima 11R ")
    assert event.text.endswith(f": {', '.join(placed)}")


async def test_only_the_race_somebody_looked_at_is_asked_for_and_not_before_it_is_run(
    gathered: Stage,
) -> None:
    await gathered.keiba.day(SUNDAY, "jra")
    before = len(gathered.asked())

    early = await gathered.keiba.look_for_results()
    asked_early = len(gathered.asked())
    gathered.clock.advance(5 * 3600)
    gathered.site.clock = ManualClock(NOON + timedelta(hours=5))
    await gathered.keiba.look_for_results()

    assert (early, asked_early - before) == (0, 0)
    assert len(gathered.asked()) == before + 1


async def test_nothing_is_fetched_where_the_settings_say_so(run: Stage) -> None:
    kept = run.means.settings.model_copy(update={"result_fetches": False})
    object.__setattr__(run.means, "settings", kept)

    assert await run.keiba.look_for_results() == 0
    assert await _waiting(run) == ()
