"""The cards of a day gathered beforehand: each once, and none while the site pauses us."""

import pytest

from grandstand.apps.keiba.domain.races import RaceEntry
from grandstand.apps.keiba.services.cards import Progress
from grandstand.apps.keiba.sources.html_reader import Parsed
from grandstand.simulators.malformed import MalformedReply
from tests.apps.keiba.stage import SUNDAY, Stage

pytestmark = pytest.mark.anyio


async def test_warming_a_day_gathers_every_card_once(sunday: Stage) -> None:
    library, heard = sunday.keiba.pages, list[Progress]()
    listed = tuple(RaceEntry("福島", number, f"2026030302{number:02}") for number in (1, 11))
    await library.cache.put(library.kinds.day_key(SUNDAY, "jra"), Parsed(listed))

    report = await sunday.keiba.prefetcher.prefetch(SUNDAY, heard.append, "jra")
    again = await sunday.keiba.prefetcher.prefetch(SUNDAY, None, "jra")

    assert (report.races, report.progress.done, report.failed) == (2, 2, ())
    assert [(one.done, one.total) for one in heard] == [(1, 2), (2, 2)]
    assert heard[-1].seconds_left == 0
    assert again.progress.fetched == 0
    assert len(sunday.requested()) == len(set(sunday.requested()))


async def test_a_cooldown_ends_the_prefetch(sunday: Stage) -> None:
    await sunday.keiba.days.day(SUNDAY, "jra")
    sunday.site.malformed.ask_for(MalformedReply("denied"))

    report = await sunday.keiba.prefetcher.prefetch(SUNDAY, None, "jra")

    assert (report.races, report.progress.done) == (36, 1)
    assert "is paused" in report.failed[0][1]
