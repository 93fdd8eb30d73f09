"""Access patterns of the specification."""

from datetime import timedelta
from decimal import Decimal

import pytest

from grandstand.apps.bets.store import TABLES
from grandstand.apps.bets.store.benny import Bankroll, BennyBet
from grandstand.apps.bets.store.games import (
    GameOdds,
    GameOutcome,
    PlayerStats,
    PropOdds,
    TeamOutcome,
)
from grandstand.apps.bets.store.predictions import Analysis, ModelAdjustment, Prediction
from grandstand.apps.bets.store.user_models import UserModel
from grandstand.core.clock import ManualClock
from grandstand.storage.tables import Store
from grandstand.storage.tables.errors import ConditionFailed, TransactionCancelled
from grandstand.storage.tables.requests import GetItem, PutItem
from tests.apps.bets.records import (
    ADJUSTMENT,
    ANALYSIS,
    BANKROLL,
    BENNY_BET,
    CELTICS,
    GAME_ODDS,
    GAME_OUTCOME,
    INVERSE,
    LAKERS,
    MORNING,
    NIGHT,
    PREDICTION,
    PROP_ANALYSIS,
    PROP_INVERSE,
    PROP_ODDS,
    RECORDS,
    START,
    TEAM_OUTCOME,
    USER_MODEL,
)

NBA = "basketball_nba"
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _table(store: Store) -> None:
    store.create(TABLES)


def test_only_the_latest_price_of_a_game_is_upcoming(store: Store) -> None:
    newer = GAME_ODDS.replace(captured_at=MORNING + HOUR)
    store(GAME_ODDS.record())

    store.all(newer.record(), GAME_ODDS.retire())

    assert store(GameOdds.upcoming(NBA, MORNING)) == [newer]
    assert store(GameOdds.upcoming(NBA, START + HOUR)) == []
    assert store(GameOdds.history("abc123", "fanduel", "spreads")) == [
        GAME_ODDS.replace(latest=False),
        newer,
    ]


def test_prices_of_games_and_of_players_do_not_mix(store: Store) -> None:
    store.write_many((GAME_ODDS.put(), PROP_ODDS.put()))

    assert store(GameOdds.upcoming(NBA, MORNING)) == [GAME_ODDS]
    assert store(PropOdds.upcoming(NBA, MORNING)) == [PROP_ODDS]
    assert store(PropOdds.of_game("abc123")) == [PROP_ODDS]


def test_a_price_without_a_version_has_its_moment_from_its_key(store: Store) -> None:
    plain = dict(GameOdds.__plan__.encode(GAME_ODDS))
    del plain["captured_at"], plain["schemaVersion"]
    store.session.engine.put(PutItem(store.session.name(TABLES[0]), plain))

    assert store(GameOdds.of_game("abc123")) == [GAME_ODDS]


def test_a_prediction_stands_until_the_start_and_is_then_frozen(store: Store) -> None:
    store(ANALYSIS.publish(MORNING))
    second = ANALYSIS.replace(confidence=Decimal("0.6"))

    store(second.publish(START - HOUR))

    with pytest.raises(ConditionFailed):
        store(ANALYSIS.publish(START))
    assert store(Analysis.of_game(NBA, "abc123", "fanduel")) == [second]


def test_every_prediction_is_stored_beside_the_current_one(store: Store) -> None:
    later = PREDICTION.replace(created_at=MORNING + HOUR)

    store.all(PREDICTION.record(), ANALYSIS.publish(MORNING))
    store.all(later.record(), ANALYSIS.publish(MORNING + HOUR))

    assert store(
        Prediction.row(sport=NBA, game_id="abc123", bookmaker="fanduel", model="consensus")
    ) == [PREDICTION, later]
    assert len(store(Analysis.of_game(NBA, "abc123", "fanduel"))) == 1
    with pytest.raises(ConditionFailed):
        store(PREDICTION.replace(prediction=CELTICS).record())


def test_predictions_about_players_do_not_collide(store: Store) -> None:
    other = PROP_ANALYSIS.replace(player_name="Jayson Tatum")
    rebounds = PROP_ANALYSIS.replace(market_key="player_rebounds")
    made = (ANALYSIS, INVERSE, PROP_ANALYSIS, PROP_INVERSE, other, rebounds)

    for each in made:
        store(each.publish(MORNING))

    assert len(store(Analysis.of_model_for_game(NBA, "abc123", "fanduel", "consensus"))) == 6
    assert store(Analysis.of_model_for_game(NBA, "abc123", "fanduel", "cons")) == []
    assert len(store(Analysis.of_model(NBA, "fanduel", "consensus", "prop"))) == 4


def test_a_verified_prediction_counts_for_its_model_and_its_inverse_apart(store: Store) -> None:
    store.write_many(each.put() for each in (ANALYSIS, INVERSE, PROP_ANALYSIS))

    store(ANALYSIS.settle(NIGHT, "win", actual_home_won=True, analysis_correct=True))
    store(INVERSE.settle(NIGHT, "win", actual_home_won=True, analysis_correct=False))

    [right] = store(Analysis.performance("consensus", NBA, MORNING))
    [wrong] = store(Analysis.performance("consensus", NBA, MORNING, "game#inverse"))
    assert (right.analysis_correct, wrong.analysis_correct) == (True, False)
    assert store(Analysis.performance("consensus", NBA, NIGHT + HOUR)) == []
    assert store(Analysis.performance("consensus", NBA, MORNING, "prop")) == []


def test_a_correction_is_preferred_and_the_result_stays(store: Store) -> None:
    corrected = GAME_OUTCOME.replace(away_score=Decimal(110), corrected_at=NIGHT + HOUR)
    store(GAME_OUTCOME.record())

    store(corrected.record())

    assert store(GameOutcome.first(NBA, "abc123")) == GAME_OUTCOME
    assert store(GameOutcome.final(NBA, "abc123")) == [corrected]
    assert store(GameOutcome.row(sport=NBA, game_id="abc123")) == [GAME_OUTCOME, corrected]
    with pytest.raises(ConditionFailed):
        store(GAME_OUTCOME.replace(winner=CELTICS).record())


def test_meetings_are_found_from_both_sides(store: Store) -> None:
    away = GAME_OUTCOME.replace(
        game_id="def456", home_team=CELTICS, away_team=LAKERS, completed_at=NIGHT + HOUR
    )
    store.write_many((GAME_OUTCOME.put(), away.put()))

    assert store(GameOutcome.meetings(NBA, LAKERS, CELTICS)) == [away, GAME_OUTCOME]
    assert store(GameOutcome.meetings(NBA, CELTICS, LAKERS, 1)) == [away]


def test_a_team_is_found_by_its_name_or_its_slug_newest_first(store: Store) -> None:
    games = [TEAM_OUTCOME.replace(game_id=f"g{n}", completed_at=NIGHT + n * HOUR) for n in range(7)]
    store.write_many(game.put() for game in games)

    assert store(TeamOutcome.recent(NBA, LAKERS)) == games[:1:-1]
    assert store(TeamOutcome.recent(NBA, "los_angeles_lakers", 1)) == games[:5:-1]


def test_players_are_found_by_their_game(store: Store) -> None:
    [stats] = RECORDS["Player Stats"]
    store(stats.put())

    assert store(PlayerStats.of_game("abc123")) == [stats]
    assert store(PlayerStats.of_player(NBA, "LeBron James")) == [stats]


def test_a_model_belongs_to_its_user_and_is_weighed_only_if_it_allows(store: Store) -> None:
    fixed = USER_MODEL.replace(model_id="fixed", auto_adjust_weights=None)
    weights = {"team_stats": Decimal(1)}
    store.write_many((USER_MODEL.put(), fixed.put(), USER_MODEL.replace(user_id="other").put()))

    weighed = store(UserModel.set_weights("user123", "model-uuid-456", weights, NIGHT))

    assert weighed.data_sources == weights
    assert [each.model_id for each in store(UserModel.of_user("user123"))] == [
        "fixed",
        "model-uuid-456",
    ]
    with pytest.raises(ConditionFailed):
        store(UserModel.set_weights("user123", "fixed", weights, NIGHT))


def test_a_bet_takes_its_stake_or_is_not_placed(store: Store) -> None:
    store(BANKROLL.open())
    rich = BENNY_BET.replace(game_id="def456", bet_amount=Decimal(80))

    store.all(BENNY_BET.place(), Bankroll.withdraw(BENNY_BET.bet_amount, MORNING))
    with pytest.raises(TransactionCancelled):
        store.all(rich.place(), Bankroll.withdraw(rich.bet_amount, MORNING))

    assert store.read(Bankroll.current()).amount == Decimal("70.00")
    assert store(BennyBet.recent()) == [BENNY_BET]
    assert store(BennyBet.by_start().between(commence_time=(START, START))) == [BENNY_BET]


def test_a_bet_is_settled_once(store: Store) -> None:
    store.write_many((BANKROLL.put(), BENNY_BET.put()))
    payout, profit = Decimal("25.83"), Decimal("10.33")
    won = BENNY_BET.settle(NIGHT, "won", "win", payout=payout, profit=profit)

    store.all(won, Bankroll.adjust(payout, NIGHT))
    with pytest.raises(TransactionCancelled):
        store.all(won, Bankroll.adjust(payout, NIGHT))

    assert store.read(Bankroll.current()).amount == Decimal("111.33")
    assert store.read(BennyBet.by_key(MORNING, "abc123")).status == "won"


def test_a_week_begins_once(store: Store) -> None:
    store(BANKROLL.open())
    monday = BANKROLL.last_reset + timedelta(days=7)

    store(Bankroll.start_week(Decimal("14.50"), monday, monday))

    with pytest.raises(ConditionFailed):
        store(Bankroll.start_week(Decimal("14.50"), monday, monday))
    assert store.read(Bankroll.current()).amount == 100


def test_an_adjustment_is_gone_after_a_day(store: Store, clock: ManualClock) -> None:
    store(ADJUSTMENT.replace(calculated_at=clock.now()).save())

    clock.advance(24 * 3600 - 1)
    before = store(ModelAdjustment.of_sport(NBA))
    clock.advance(1)

    assert [each.evidence for each in before] == ["INSUFFICIENT_DATA"]
    assert store(ModelAdjustment.of_sport(NBA)) == []


def test_a_stored_item_has_the_specified_key_strings(store: Store) -> None:
    store(TEAM_OUTCOME.record())
    key = {
        "pk": "TEAM_OUTCOME#basketball_nba#los_angeles_lakers",
        "sk": "2026-02-11T22:00:00Z#abc123",
    }

    found = store.session.engine.get(GetItem(store.session.name(TABLES[0]), dict(key))).item

    assert found is not None
    assert found["team_outcome_pk"] == "TEAM#basketball_nba#los_angeles_lakers"
