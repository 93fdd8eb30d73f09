"""A horse, a race or a jockey is found by a part of a name, among what is kept."""

import pytest

from tests.apps.keiba.stage import ADA, BOB, SUNDAY, Stage

pytestmark = pytest.mark.anyio


@pytest.fixture
async def listed(gathered: Stage) -> Stage:
    """The Sunday's list is kept, and one of its cards."""
    await gathered.keiba.days.day(SUNDAY, "jra")
    return gathered


async def test_a_horse_and_its_jockey_are_found_on_a_kept_card(listed: Stage) -> None:
    card = (await listed.keiba.pages.dated_race(listed.small)).value
    runner = card.horses[0]
    before = len(listed.requested())

    by_name = await listed.keiba.searcher.search(runner.horse_name[:4], ADA)
    by_id = await listed.keiba.searcher.search(runner.horse_id, ADA)
    jockeys = await listed.keiba.searcher.search(runner.jockey_name or "", ADA)

    page = f"/keiba/horses/{runner.horse_id}"
    assert page in {one.href for one in by_name}
    assert [(one.kind, one.title, one.href) for one in by_id] == [
        ("horse", runner.horse_name, page)
    ]
    assert by_id[0].detail == "Runs in Fukushima 11R"
    assert ("jockey", f"/keiba/jockeys/{runner.jockey_id}") in {
        (one.kind, one.href) for one in jockeys
    }
    assert len(listed.requested()) == before


async def test_a_race_is_found_by_its_track_in_english_and_its_number(listed: Stage) -> None:
    found = await listed.keiba.searcher.search("fukushima 11r", ADA)

    assert [(one.kind, one.href) for one in found] == [("race", f"/keiba/races/{listed.small}")]
    assert found[0].detail.startswith("Fukushima 11R, Sun 15 Nov")


async def test_a_watched_horse_is_found_by_whoever_watches_it(sunday: Stage) -> None:
    race = sunday.world.race(sunday.small)
    assert race is not None
    horse = race.horses[0].id
    name = (await sunday.keiba.watchlist.watch(ADA, horse)).horse_name

    mine, others = (
        await sunday.keiba.searcher.search(name, ADA),
        await sunday.keiba.searcher.search(name, BOB),
    )

    assert [(one.title, one.detail) for one in mine] == [(name, "Watched")]
    assert others == ()
