"""Access patterns of wagers, limits and favorites on each engine."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from grandstand.apps.bets.store.wagers import BettingLimits, FavoriteTeam, Wager
from grandstand.storage.tables import Store
from grandstand.storage.tables.errors import ConditionFailed

NOON = datetime(2026, 2, 11, 12, tzinfo=UTC)
WAGER = Wager(
    user_id="ada",
    wager_id="20260212T0000-b",
    game_id="g1",
    sport="basketball_nba",
    home_team="Lakers",
    away_team="Celtics",
    commence_time=NOON + timedelta(hours=12),
    market_key="spreads",
    selection="spreads|home|-3.5|||",
    prediction="Lakers -3.5",
    odds=-110,
    stake_cents=1_100,
    placed_at=NOON,
)


def test_a_bet_is_found_by_its_person_newest_game_first_and_by_its_game(store: Store) -> None:
    later = WAGER.replace(wager_id="20260213T0000-a", game_id="g2")
    bobs = WAGER.replace(user_id="bob")
    store.write_many(each.put() for each in (WAGER, later, bobs))

    assert store(Wager.of_user("ada")) == [later, WAGER]
    assert store(Wager.of_game("g1")) == [WAGER, bobs]
    assert store(Wager.by_id("bob", WAGER.wager_id)) == bobs
    assert store(Wager.of_user("eve")) == []


def test_a_bet_is_settled_from_the_revision_it_was_read_at(store: Store) -> None:
    store(WAGER.record())

    settled = store(
        WAGER.settle(
            NOON, "settled", "win", payout_cents=2_100, profit_cents=1_000, clv=Decimal("0.02")
        )
    )

    assert (settled.revision, settled.profit_cents) == (1, 1_000)
    with pytest.raises(ConditionFailed):
        store(WAGER.settle(NOON, "settled", "loss", payout_cents=0, profit_cents=-1_100))
    with pytest.raises(ConditionFailed):
        store(settled.withdraw())


def test_limits_are_written_over_what_they_were_read_as(store: Store) -> None:
    first = store(BettingLimits(user_id="ada", stake_per_bet_cents=500).save())

    second = store(first.replace(wanted={"stake_per_bet": 900}).save())

    assert store(BettingLimits.of_user("ada")) == second
    with pytest.raises(ConditionFailed):
        store(first.replace(stake_per_bet_cents=None).save())


def test_favorite_team_is_found_under_any_spelling(store: Store) -> None:
    liked = FavoriteTeam(user_id="ada", sport="soccer_epl", team="Málaga CF", since=NOON)
    store(liked.save())

    assert store(FavoriteTeam.of_team("soccer_epl", "malaga cf")) == [liked]
    assert store(FavoriteTeam.of_user("ada")) == [liked]
    assert store(FavoriteTeam.remove("ada", "soccer_epl", "MALAGA CF")) == liked
    assert store(FavoriteTeam.of_team("soccer_epl", "Málaga CF")) == []
