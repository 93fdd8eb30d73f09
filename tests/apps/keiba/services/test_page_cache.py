"""Pages from the cache or the site: how old they are, and what becomes of those that fail."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from grandstand.apps.keiba.domain.errors import NotPublished, PageUnreadable
from grandstand.apps.keiba.domain.ids import InvalidId
from grandstand.core.clock import ManualClock
from grandstand.net.errors import QuotaExceeded
from grandstand.simulators.malformed import MalformedReply
from grandstand.simulators.racing.site import Site
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.keiba.stage import ALL_TABLES, NOON, SUNDAY, Stage, staged

pytestmark = pytest.mark.anyio

WEEK = 7 * 86_400
NOBODY = "1999999999"


@pytest.fixture
async def lenient(race_site: Site) -> AsyncIterator[Stage]:
    """A keiba that may use what is an hour past its time when the site fails."""
    clock = ManualClock(NOON)
    with Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock) as store:
        store.create(ALL_TABLES)
        async with staged(store, race_site, clock, stale_on_error_seconds=3600) as made:
            yield made


@pytest.fixture
async def swift(race_site: Site) -> AsyncIterator[Stage]:
    """A keiba that shows what is past its time while it asks anew."""
    clock = ManualClock(NOON)
    with Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock) as store:
        store.create(ALL_TABLES)
        async with staged(store, race_site, clock, stale_while_revalidate_seconds=3600) as made:
            yield made


async def test_everything_says_where_it_came_from_and_how_old_it_is(sunday: Stage) -> None:
    await sunday.keiba.pages.dated_race(sunday.small)
    sunday.clock.advance(3600)

    seen = await sunday.keiba.pages.dated_race(sunday.small)

    assert seen.origin.page.endswith(f"/race/race/shutuba.html?race_id={sunday.small}")
    assert (seen.state, round(seen.origin.age_seconds)) == ("fresh", 3600)
    assert seen.fetched_at == NOON
    assert seen.value.race_date == SUNDAY


async def test_what_failed_is_shown_past_its_time_only_if_chosen_and_says_so(
    lenient: Stage, sunday: Stage
) -> None:
    for stage in (lenient, sunday):
        await stage.keiba.pages.dated_race(stage.small)
        stage.clock.advance(WEEK + 60)
    lenient.site.malformed.ask_for(MalformedReply("empty"))

    seen = await lenient.keiba.pages.dated_race(lenient.small)

    assert seen.state == "stale"
    assert "it is empty" in (seen.origin.error or "")
    with pytest.raises(PageUnreadable):
        await sunday.keiba.pages.dated_race(sunday.small)


async def test_what_is_past_its_time_is_shown_while_it_is_fetched_if_chosen(swift: Stage) -> None:
    await swift.keiba.pages.dated_race(swift.small)
    swift.clock.advance(WEEK + 60)

    shown = await swift.keiba.pages.dated_race(swift.small)
    await swift.keiba.pages.cache.settle()
    after = await swift.keiba.pages.dated_race(swift.small)

    assert (shown.state, after.state) == ("stale", "fresh")
    assert after.origin.age_seconds < 1
    assert len(swift.requested()) == 2


async def test_what_is_young_is_not_fetched_anew(sunday: Stage) -> None:
    first = await sunday.keiba.pages.odds(sunday.small)
    sunday.clock.advance(30)
    young = await sunday.keiba.pages.odds(sunday.small, refresh=True)
    sunday.clock.advance(30)

    old = await sunday.keiba.pages.odds(sunday.small, refresh=True)

    assert first is not None
    assert young is not None
    assert old is not None
    assert [one.state for one in (first, young, old)] == ["fetched", "fresh", "fetched"]
    assert len(sunday.requested()) == 2


async def test_what_fails_anew_leaves_what_was_kept(sunday: Stage) -> None:
    await sunday.keiba.pages.dated_race(sunday.small)
    sunday.clock.advance(3600)
    sunday.site.malformed.ask_for(MalformedReply("truncated"))

    with pytest.raises(PageUnreadable):
        await sunday.keiba.pages.dated_race(sunday.small, refresh=True)
    kept = await sunday.keiba.pages.dated_race(sunday.small)

    assert kept.state == "fresh"


async def test_a_page_that_is_not_there_is_remembered_for_a_while(sunday: Stage) -> None:
    with pytest.raises(NotPublished):
        await sunday.keiba.pages.horse(NOBODY)
    with pytest.raises(NotPublished):
        await sunday.keiba.pages.horse(NOBODY)
    sunday.clock.advance(300)
    with pytest.raises(NotPublished):
        await sunday.keiba.pages.horse(NOBODY)

    assert len(sunday.requested()) == 2


async def test_before_there_are_odds_there_are_none(sunday: Stage) -> None:
    later = sunday.world.race_ids("jra", SUNDAY + timedelta(days=13))[0]

    assert await sunday.keiba.pages.odds(later) is None


async def test_a_result_is_asked_for_again_until_it_is_confirmed(sunday: Stage) -> None:
    before = await sunday.keiba.pages.result(sunday.small)
    sunday.clock.advance(180)
    sunday.site.clock = ManualClock(NOON + timedelta(hours=8))
    after = await sunday.keiba.pages.result(sunday.small)
    sunday.clock.advance(86_400)
    kept = await sunday.keiba.pages.result(sunday.small)

    assert (before.value.confirmed, after.value.confirmed) == (False, True)
    assert (after.state, kept.state) == ("fetched", "fresh")
    assert {payout.bet for payout in kept.value.payouts} >= {"win", "place", "trifecta"}


async def test_a_page_read_in_part_is_kept_for_an_hour_with_its_warnings(sunday: Stage) -> None:
    sunday.site.malformed.ask_for(MalformedReply("wrong letters", "/race/race/"))

    await sunday.keiba.pages.dated_race(sunday.small)
    kept = await sunday.keiba.pages.dated_race(sunday.small)

    item = sunday.stored(f"RACE#{sunday.small}", "METADATA")
    assert kept.state == "fresh"
    assert kept.warnings
    assert item["warnings"] == list(kept.warnings)
    assert item["ttl"] - item["fetched_at"] == 3600


async def test_a_parent_whose_page_cannot_be_read_is_a_warning(sunday: Stage) -> None:
    race = sunday.world.race(sunday.small)
    assert race is not None
    horse = race.horses[0]
    sunday.site.malformed.ask_for(MalformedReply("empty", f"/db/horse/{horse.sire.id}/"))

    seen = await sunday.keiba.pages.horse(horse.id)

    assert seen.parents is not None
    assert seen.parents.value.sire.name == horse.sire.name
    assert seen.parents.value.sire.first is None
    assert seen.parents.value.dam.first is not None
    assert any("it is empty" in note for note in seen.warnings)


async def test_a_pause_keeps_everybody_from_asking_and_is_shown(sunday: Stage) -> None:
    sunday.site.malformed.ask_for(MalformedReply("denied", "/db/", times=1))

    card = await sunday.keiba.cards.assemble(sunday.small)
    sites = {site.name: site for site in (await sunday.keiba.cache_admin.report()).sites}

    assert len([page for page in sunday.requested() if page.startswith("db")]) == 1
    assert card.progress.failed == 30
    assert "is paused until" in card.runners[0].warnings[0]
    assert sites["netkeiba-db"].paused_until == sunday.clock.now() + timedelta(seconds=900)
    assert sites["netkeiba-race"].paused_until is None


async def test_a_spent_budget_is_said_on_the_card(race_site: Site) -> None:
    clock = ManualClock(NOON)
    store = Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock)
    store.create(ALL_TABLES)

    async with staged(store, race_site, clock, daily_requests=5) as stage:
        card = await stage.keiba.cards.assemble(stage.small)
        with pytest.raises(QuotaExceeded):
            await stage.keiba.pages.jockey("01001")

    assert card.progress.failed > 20
    assert any("quota" in note for each in card.runners for note in each.warnings)


@pytest.mark.parametrize("wrong", ["", "2026", "20260504060#", "../202605040"])
async def test_what_cannot_be_an_id_is_never_looked_for(sunday: Stage, wrong: str) -> None:
    with pytest.raises(InvalidId):
        await sunday.keiba.cards.assemble(wrong)
    with pytest.raises(InvalidId):
        await sunday.keiba.cards.cached(wrong)
    with pytest.raises(InvalidId):
        await sunday.keiba.pages.horse(wrong)

    assert sunday.requested() == []
