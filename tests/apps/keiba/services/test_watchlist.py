"""Watched horses: kept for a person, looked for on coming cards, written once each."""

import pytest

from grandstand.apps.keiba.domain.errors import NotPublished
from grandstand.apps.keiba.domain.ids import InvalidId
from grandstand.apps.keiba.services.watchlist import ENTRY_TOPIC
from grandstand.apps.keiba.store import HorseWatcher, Watch
from grandstand.core.errors import InvalidInput
from grandstand.kit.events import Event
from tests.apps.keiba.stage import ADA, BOB, SUNDAY, Stage

pytestmark = pytest.mark.anyio


def horses_of(stage: Stage, race_id: str) -> list[str]:
    race = stage.world.race(race_id)
    assert race is not None
    return [horse.id for horse in race.horses]


async def test_a_horse_is_watched_with_a_note_until_it_no_longer_is(stage: Stage) -> None:
    horse, other = horses_of(stage, stage.small)[:2]

    first = await stage.keiba.watchlist.watch(ADA, horse, "  looks well ")
    await stage.keiba.watchlist.watch(ADA, horse, "looks better")
    await stage.keiba.watchlist.watch(BOB, other)
    seen = await stage.keiba.watchlist.horses(ADA)
    ended = [await stage.keiba.watchlist.unwatch(ADA, horse) for _ in range(2)]

    assert first.note == "looks well"
    assert [(each.horse_id, each.note) for each in seen] == [(horse, "looks better")]
    assert seen[0].horse_name
    assert ended == [True, False]
    assert await stage.keiba.watchlist.horses(ADA) == ()
    assert len(await stage.keiba.watchlist.horses(BOB)) == 1


async def test_what_cannot_be_watched_is_refused(sunday: Stage) -> None:
    horse = horses_of(sunday, sunday.small)[0]

    with pytest.raises(InvalidInput, match="At most 500"):
        await sunday.keiba.watchlist.watch(ADA, horse, "x" * 501)
    with pytest.raises(InvalidId):
        await sunday.keiba.watchlist.watch(ADA, "a horse")
    with pytest.raises(NotPublished):
        await sunday.keiba.watchlist.watch(ADA, "1999999999")

    assert await sunday.keiba.watchlist.horses(ADA) == ()


async def test_a_watched_horse_shows_the_coming_races_it_is_entered_in(sunday: Stage) -> None:
    horse = horses_of(sunday, sunday.small)[0]
    await sunday.keiba.days.day(SUNDAY, "jra")
    await sunday.keiba.pages.dated_race(sunday.small)
    await sunday.keiba.watchlist.watch(ADA, horse)

    before = await sunday.keiba.watchlist.horses(ADA)
    sunday.clock.advance(6 * 3600)
    after = await sunday.keiba.watchlist.horses(ADA)

    assert [one.race_id for one in before[0].entries] == [sunday.small]
    assert (before[0].entries[0].track_name, before[0].entries[0].race_date) == ("福島", SUNDAY)
    assert after[0].entries == ()


async def test_whoever_watches_is_told_once_for_each_horse_and_race(sunday: Stage) -> None:
    horse = horses_of(sunday, sunday.small)[0]
    await sunday.keiba.watchlist.watch(ADA, horse, "at last")
    await sunday.keiba.watchlist.watch(BOB, horse)

    written = await sunday.keiba.watchlist.check_entries()
    again = await sunday.keiba.watchlist.check_entries()
    waiting = await sunday.resources.outbox.waiting(ENTRY_TOPIC)
    await sunday.keiba.watchlist.unwatch(BOB, horse)
    for consequence in waiting:
        await sunday.keiba.watchlist.deliver(consequence)

    [event] = await sunday.resources.store(Event.of_audience("user#ada"))
    assert (written, again, len(waiting)) == (2, 0, 2)
    assert event.text.endswith("Your note: at last")
    assert event.href == f"/keiba/races/{sunday.small}"
    assert await sunday.resources.store(Event.of_audience("user#bob")) == []


async def test_nothing_is_fetched_while_nobody_watches(sunday: Stage) -> None:
    written = await sunday.keiba.watchlist.check_entries()

    assert (written, sunday.requested()) == (0, [])


async def test_everything_kept_of_a_person_is_exported_and_erased(stage: Stage) -> None:
    first, second = horses_of(stage, stage.small)[:2]
    await stage.keiba.watchlist.watch(ADA, first, "mine")
    await stage.keiba.watchlist.watch(ADA, second)
    await stage.keiba.watchlist.watch(BOB, first)

    exported = [each async for each in stage.keiba.watchlist.export("ada")]
    erased = await stage.keiba.watchlist.erase("ada")
    again = await stage.keiba.watchlist.erase("ada")

    assert {kind for kind, _ in exported} == {"watched horse"}
    assert {(each["horseId"], each["note"]) for _, each in exported} == {
        (first, "mine"),
        (second, ""),
    }
    assert (erased, again) == (2, 0)
    assert await stage.resources.store(Watch.of_user("ada")) == []
    left = await stage.resources.store(HorseWatcher.all_watchers())
    assert [(one.horse_id, one.user_id) for one in left] == [(first, "bob")]
