"""The cache can be looked into and cleared, and nothing of a person is ever among it."""

import json

import pytest

from grandstand.apps.keiba.services.cache_admin import CacheEntryNotFound, PurgeFilter
from grandstand.core.errors import InvalidInput
from grandstand.storage.tables.errors import CursorInvalid
from tests.apps.keiba.stage import ADA, SUNDAY, Stage

pytestmark = pytest.mark.anyio


@pytest.fixture
async def filled(sunday: Stage) -> Stage:
    """A keiba that has looked at a day, a race and a horse, and keeps a watched one."""
    await sunday.keiba.days.day(SUNDAY, "jra")
    await sunday.keiba.pages.dated_race(sunday.small)
    race = sunday.world.race(sunday.small)
    assert race is not None
    await sunday.keiba.watchlist.watch(ADA, race.horses[0].id)
    await sunday.keiba.pages.dated_race(sunday.small)
    return sunday


async def test_the_report_counts_what_is_kept_and_how_often_it_helped(filled: Stage) -> None:
    report = await filled.keiba.cache_admin.report()

    kinds = {each.kind: each for each in report.kinds}
    assert {name: each.valid for name, each in kinds.items()} == {
        "DayRaces": 1,
        "Race": 1,
        "HorseCareer": 1,
    }
    assert (kinds["Race"].counts.hits, kinds["Race"].counts.misses) == (1, 1)
    assert report.hit_rate == pytest.approx(1 / 4)
    assert (report.entries, report.complete) == (3, True)
    assert report.stored_bytes == sum(each.stored_bytes for each in report.kinds) > 1000
    assert [site.name for site in report.sites] == ["netkeiba-race", "netkeiba-nar", "netkeiba-db"]
    assert report.sites[0].requests_today >= 2
    assert "kiyaku" in report.terms


async def test_entries_are_listed_by_the_beginning_of_their_key(filled: Stage) -> None:
    first = await filled.keiba.cache_admin.entries(limit=2)
    rest = await filled.keiba.cache_admin.entries(position=first.position, limit=50)
    races = await filled.keiba.cache_admin.entries("RACE#")

    listed = {(each.partition, each.sort) for each in (*first.entries, *rest.entries)}
    assert len(listed) == 3
    assert [(each.kind, each.storage, each.expired) for each in races.entries] == [
        ("Race", "plain", False)
    ]
    assert first.position is not None
    with pytest.raises(CursorInvalid):
        await filled.keiba.cache_admin.entries("HORSE#", position=first.position)


async def test_an_entry_is_shown_with_its_payload_expired_or_not(filled: Stage) -> None:
    filled.clock.advance(8 * 86_400)

    seen = await filled.keiba.cache_admin.inspect(f"RACE#{filled.small}", "METADATA")

    assert seen.entry.expired
    assert json.loads(seen.data_json or "")["race_id"] == filled.small
    with pytest.raises(CacheEntryNotFound):
        await filled.keiba.cache_admin.inspect("RACE#202603030299", "METADATA")
    with pytest.raises(CacheEntryNotFound):
        await filled.keiba.cache_admin.inspect("USER#ada", "WATCH#2024100001")


async def test_a_purge_counts_first_and_then_removes(filled: Stage) -> None:
    wish = PurgeFilter(prefix="RACE#")

    counted = await filled.keiba.cache_admin.purge(wish)
    still = len(filled.stored_keys())
    done = await filled.keiba.cache_admin.purge(wish, dry_run=False)

    assert (counted.matched, counted.removed, counted.dry_run, still) == (1, 0, True, 5)
    assert (done.matched, done.removed, done.dry_run) == (1, 1, False)
    assert counted.stored_bytes == done.stored_bytes > 0
    assert (f"RACE#{filled.small}", "METADATA") not in filled.stored_keys()


async def test_a_purge_goes_by_kind_age_and_expiry(filled: Stage) -> None:
    young = await filled.keiba.cache_admin.purge(PurgeFilter(older_than_seconds=3600))
    filled.clock.advance(2 * 86_400)

    old = await filled.keiba.cache_admin.purge(PurgeFilter(older_than_seconds=3600))
    expired = await filled.keiba.cache_admin.purge(PurgeFilter(expired_only=True), dry_run=False)
    horses = await filled.keiba.cache_admin.purge(PurgeFilter(kind="HorseCareer"))

    assert (young.matched, old.matched, expired.removed, horses.matched) == (0, 3, 1, 1)
    with pytest.raises(InvalidInput):
        await filled.keiba.cache_admin.purge(PurgeFilter())


async def test_a_purge_never_touches_what_belongs_to_a_person(filled: Stage) -> None:
    everything = PurgeFilter(older_than_seconds=-1)
    person = PurgeFilter(prefix="USER#")

    gone = await filled.keiba.cache_admin.purge(everything, dry_run=False)
    nothing = await filled.keiba.cache_admin.purge(person, dry_run=False)

    assert (gone.removed, nothing.matched) == (3, 0)
    assert {where[0].partition("#")[0] for where in filled.stored_keys()} == {"USER", "WATCHING"}
