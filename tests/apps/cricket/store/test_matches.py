"""What cricket's tables promise to whoever asks them."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from grandstand.apps.cricket.app import APP
from grandstand.apps.cricket.domain.match_state import DetectionMemory, MatchState
from grandstand.apps.cricket.domain.matches import Ball, BattingLine, BowlingLine, InningsScore
from grandstand.apps.cricket.store.fixtures import CachedFixture, Fixture, League, Team
from grandstand.apps.cricket.store.matches import ActiveMatch
from grandstand.core.clock import ManualClock
from grandstand.storage.tables import Store
from grandstand.storage.tables.attribute_values import item_size
from grandstand.storage.tables.errors import ConditionFailed
from tests.apps.cricket.records import CACHED, FIXTURE, LATER, LEAGUE, MATCH, NOON, TEAM

HOUR = timedelta(hours=1)
SEEN = MatchState(
    "71344",
    "1st Innings",
    "live",
    (InningsScore("1", 1, 153, 4, Decimal("17.4")),),
    balls=(Ball(10, 1, 17, 4, 11, 21, 0, extras=1, extra="legbye"),),
    ball_id=10,
    cooldowns={"six": LATER},
    memory=DetectionMemory(1, 17, {"11": 104}, (11, 12), {"b11": 52}, {"h21": 1}, started=True),
    seq=7,
)


@pytest.fixture(autouse=True)
def _tables(store: Store) -> None:
    store.create(APP.tables)


def test_fixtures_of_a_league_are_found_by_when_they_start(store: Store) -> None:
    starts = [NOON + n * HOUR for n in range(4)]
    found = tuple(FIXTURE.replace(match_id=str(n), start_time=at) for n, at in enumerate(starts))
    other = FIXTURE.replace(match_id="9", league_code="IPL")

    store(Fixture.save_all((*found, other)))

    assert store(Fixture.starting_between("BBL", starts[1], starts[2])) == list(found[1:3])
    assert store(Fixture.by_ids(("3", "8", "9"))) == [found[3], None, other]


def test_an_archived_fixture_is_no_longer_live(store: Store) -> None:
    store(FIXTURE.replace(archived_at=None).put())

    archived = store(Fixture.archive("71344", LATER))

    assert (archived.archived_at, archived.live_updated_at) == (LATER, None)


def test_a_fixture_nobody_knows_cannot_progress(store: Store) -> None:
    with pytest.raises(ConditionFailed):
        store(Fixture.update_progress("71344", "2nd Innings", None, NOON))

    assert store(Fixture.by_id("71344")) is None


def test_a_fixture_saved_with_another_start_moves_in_its_league(store: Store) -> None:
    store(FIXTURE.put())

    store(Fixture.save_all((FIXTURE.replace(start_time=LATER),)))

    assert store(Fixture.starting_between("BBL", NOON, NOON)) == []
    assert len(store(Fixture.starting_between("BBL", LATER, LATER))) == 1


def test_a_match_is_registered_by_one_instance_only(store: Store) -> None:
    store(MATCH.register())
    idle = MATCH.replace(match_id="2", status="idle")
    store(idle.put())

    with pytest.raises(ConditionFailed):
        store(MATCH.replace(instance_id="two").register())
    taken = store(idle.replace(status="active", instance_id="two").register())

    assert taken.instance_id == "two"
    assert {each.match_id for each in store(ActiveMatch.all_items())} == {"71344", "2"}


def test_a_writer_that_was_overtaken_changes_nothing(store: Store) -> None:
    store(MATCH.register())
    first = store(ActiveMatch.take_over("71344", "one"))
    second = store(ActiveMatch.take_over("71344", "two"))

    store(ActiveMatch.save_state(second.epoch, SEEN, NOON))
    late = (
        ActiveMatch.save_state(first.epoch, SEEN, LATER),
        ActiveMatch.touch("71344", first.epoch, LATER),
        ActiveMatch.update_cooldowns("71344", first.epoch, {}),
        ActiveMatch.deactivate("71344", first.epoch, LATER),
    )

    for write in late:
        with pytest.raises(ConditionFailed):
            store(write)
    kept = store.read(ActiveMatch.by_id("71344"))
    assert (kept.instance_id, kept.previous_score, kept.last_tick_at) == ("two", SEEN.score, NOON)
    assert kept.cooldowns == {"six": LATER}


def test_an_ended_match_is_gone_when_its_time_is_over(store: Store, clock: ManualClock) -> None:
    registered = store(MATCH.replace(expires=None).register())

    store(ActiveMatch.deactivate("71344", registered.epoch, clock.now() + HOUR))
    clock.advance(3600)

    assert store(ActiveMatch.by_id("71344")) is None
    assert store(ActiveMatch.all_items()) == []


def test_what_a_tick_saw_comes_back_as_it_was_saved(store: Store) -> None:
    fresh = store(MATCH.replace(previous_status=None).register())

    store(ActiveMatch.save_state(fresh.epoch, SEEN, NOON))

    assert fresh.state is None
    assert store.read(ActiveMatch.by_id("71344")).state == SEEN


def test_a_long_match_stays_small() -> None:
    batting = tuple(
        BattingLine(10**6 + n, 4, 100, 200, 10, 5, True, 500, Decimal("149.5")) for n in range(11)
    )
    bowling = tuple(BowlingLine(10**6 + n, 4, Decimal("29.5"), 9, 99, 5) for n in range(11))
    balls = tuple(
        Ball(10**9 + n, 4, 89, 6, 10**6, 10**6, 0, 5, "wide", wicket=True, credited=True)
        for n in range(30)
    )
    full = replace(
        SEEN,
        batting=batting,
        bowling=bowling,
        balls=tuple(
            replace(ball, out_id=10**6, partner_id=10**6, how="Catch Out (Sub)") for ball in balls
        ),
        score=tuple(InningsScore("123", n, 678, 10, Decimal("150.5")) for n in range(1, 5)),
        cooldowns={f"batsman_on_fire:{10**6 + n}": LATER for n in range(11)},
        memory=DetectionMemory(
            4,
            150,
            {str(10**6 + n): 890 for n in range(10)},
            tuple(10**6 + n for n in range(11)),
            {f"b{10**6 + n}": 150 for n in range(11)},
            {f"h{10**6 + n}": 1 for n in range(11)},
            balls[:6],
            note="n" * 80,
        ),
    )

    saved = MATCH.replace(
        previous_batting=full.batting,
        previous_bowling=full.bowling,
        last_30_balls=full.balls,
        previous_score=full.score,
        cooldowns=dict(full.cooldowns),
        memory=full.memory,
    )

    assert item_size(ActiveMatch.__plan__.encode(saved)) <= 8_192


def test_only_active_leagues_are_followed(store: Store) -> None:
    store(LEAGUE.save())
    store(LEAGUE.replace(league_id="6", active=False).save())

    before = [each.league_id for each in store(League.active_leagues())]
    amended = store(League.update_fields("5", name=None, code=None, active=False))

    assert before == ["5"]
    assert (amended.name, amended.active) == (LEAGUE.name, False)
    assert store(League.active_leagues()) == []


def test_a_team_nobody_knows_cannot_be_amended(store: Store) -> None:
    store(Team.save_all((TEAM,)))

    amended = store(Team.update_fields("1", name="Strikers", code=None, image_path=None))

    assert (amended.name, amended.code) == ("Strikers", TEAM.code)
    with pytest.raises(ConditionFailed):
        store(Team.update_fields("2", name="Nobody", code=None, image_path=None))


def test_a_cached_fixture_is_absent_once_it_expired(store: Store, clock: ManualClock) -> None:
    soon = CACHED.replace(expires=clock.now() + timedelta(seconds=5))
    late = CACHED.replace(match_id="2", expires=clock.now() + HOUR)
    store(CachedFixture.save_all((soon, late)))

    clock.advance(5)

    assert store(CachedFixture.by_id("71344")) is None
    assert store(CachedFixture.by_ids(("71344", "2"))) == [None, late]
    assert store(CachedFixture.of_league("5", clock.now())) == [late]
    assert store(CachedFixture.all_items()) == [late]
