"""The cards of a day gathered beforehand: each once, and none while the site pauses us."""

import pytest

from grandstand.apps.keiba.model import RaceEntry
from grandstand.apps.keiba.service import Progress
from grandstand.apps.keiba.service.cache.library import Library
from grandstand.apps.keiba.sources.reading.page import Parsed
from grandstand.simulators.blemishes import Blemish
from tests.apps.keiba.stage import SUNDAY, Stage

pytestmark = pytest.mark.anyio


async def test_warming_a_day_gathers_every_card_once(sunday: Stage) -> None:
    library, heard = Library(sunday.means), list[Progress]()
    listed = tuple(RaceEntry("福島", number, f"2026030302{number:02}") for number in (1, 11))
    await library.cache.put(library.forms.day_of(SUNDAY, "jra"), Parsed(listed))

    warmed = await sunday.keiba.warm(SUNDAY, heard.append, "jra")
    again = await sunday.keiba.warm(SUNDAY, None, "jra")

    assert (warmed.races, warmed.counts.done, warmed.failed) == (2, 2, ())
    assert [(one.done, one.total) for one in heard] == [(1, 2), (2, 2)]
    assert heard[-1].seconds_left == 0
    assert again.counts.fetched == 0
    assert len(sunday.asked()) == len(set(sunday.asked()))


async def test_a_pause_ends_the_warming(sunday: Stage) -> None:
    await sunday.keiba.day(SUNDAY, "jra")
    sunday.site.blemishes.ask_for(Blemish("denied"))

    warmed = await sunday.keiba.warm(SUNDAY, None, "jra")

    assert (warmed.races, warmed.counts.done) == (36, 1)
    assert "left alone" in warmed.failed[0][1]
