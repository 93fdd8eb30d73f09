"""The result of a viewed race is published once, soon after it is confirmed."""

from dataclasses import replace
from datetime import timedelta

import pytest

from grandstand.apps.keiba.domain.races import RaceCard, RaceEntry, Runner
from grandstand.apps.keiba.services.result_watcher import RESULT_TOPIC
from grandstand.apps.keiba.sources.html_reader import Parsed
from grandstand.core.clock import ManualClock
from grandstand.kit.outbox import OutboxMessage
from tests.apps.keiba.stage import ADA, NOON, SUNDAY, Stage

pytestmark = pytest.mark.anyio


@pytest.fixture
async def run(gathered: Stage) -> Stage:
    """The race whose card is kept is run, and its result is out."""
    await gathered.keiba.days.day(SUNDAY, "jra")
    gathered.clock.advance(5 * 3600)
    gathered.site.clock = ManualClock(NOON + timedelta(hours=5))
    return gathered


async def _waiting(stage: Stage) -> tuple[OutboxMessage, ...]:
    return tuple(await stage.resources.outbox.waiting(RESULT_TOPIC))


async def test_a_result_is_told_once_with_the_first_three_and_a_way_to_it(run: Stage) -> None:
    first, again = await run.keiba.result_watcher.check(), await run.keiba.result_watcher.check()

    [noted] = await _waiting(run)
    await run.keiba.result_watcher.deliver(noted)

    result = (await run.keiba.pages.result(run.small)).value
    placed = [one.horse_name for one in result.finishers if one.position in (1, 2, 3)]
    [event] = await run.resources.events.recent(10, ADA)
    assert (first, again) == (1, 0)
    assert (event.app, event.kind) == ("keiba", "result")
    assert event.href == f"/keiba/races/{run.small}/result"
    assert event.text.startswith("Fukushima 11R ")
    assert event.text.endswith(f": {', '.join(placed)}")


async def test_only_the_race_somebody_looked_at_is_asked_for_and_not_before_it_is_run(
    gathered: Stage,
) -> None:
    await gathered.keiba.days.day(SUNDAY, "jra")
    before = len(gathered.requested())

    early = await gathered.keiba.result_watcher.check()
    asked_early = len(gathered.requested())
    gathered.clock.advance(5 * 3600)
    gathered.site.clock = ManualClock(NOON + timedelta(hours=5))
    await gathered.keiba.result_watcher.check()

    assert (early, asked_early - before) == (0, 0)
    assert len(gathered.requested()) == before + 1


async def test_results_that_never_come_do_not_hold_up_the_others(run: Stage) -> None:
    library = run.keiba.pages
    cancelled = [
        RaceEntry("福島", at, f"2026030302{at}", post_time="15:00") for at in range(20, 28)
    ]
    listed = (*cancelled, RaceEntry("福島", 11, run.small, post_time="15:40"))
    await library.cache.put(library.kinds.day_key(SUNDAY, "jra"), Parsed(listed))
    for race in cancelled:
        card = RaceCard(
            race_id=race.race_id,
            race_name="2歳未勝利",
            horses=(Runner("2024100001", "アサヒノユメ"),),
        )
        await library.cache.put(library.kinds.race.key(race_id=race.race_id), Parsed(card))

    first = await run.keiba.result_watcher.check()
    run.clock.advance(300)
    second = await run.keiba.result_watcher.check()

    assert (first, second) == (0, 1)


async def test_nothing_is_fetched_where_the_settings_say_so(run: Stage) -> None:
    settings = run.resources.settings.model_copy(update={"result_fetches": False})
    keiba = replace(run.resources, settings=settings).create()

    assert await keiba.result_watcher.check() == 0
    assert await _waiting(run) == ()
