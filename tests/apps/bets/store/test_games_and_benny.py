"""Access patterns of games, results, stats, datasets and Benny on each engine."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from grandstand.apps.bets.store.benny import BennyBet, CachedOpinion, ShadowBet
from grandstand.apps.bets.store.games import (
    AwaitedGame,
    GameInfo,
    GameOdds,
    HistoricalOdds,
    QuotaUse,
    ResultRecord,
    ScheduledGame,
    SportBookmaker,
)
from grandstand.apps.bets.store.user_models import (
    Backtest,
    BacktestTrials,
    Dataset,
    DatasetPart,
    ModelSlot,
    UserModel,
)
from grandstand.storage.tables import Store
from grandstand.storage.tables.errors import ConditionFailed
from tests.apps.bets.records import BENNY_BET, GAME_ODDS, RECORDS, USER_MODEL

NBA = "basketball_nba"
NOON = datetime(2026, 2, 11, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def awaited(game_id: str, starts: datetime) -> AwaitedGame:
    return AwaitedGame(
        sport=NBA, game_id=game_id, home_team="Lakers", away_team="Celtics", commence_time=starts
    )


def line(game_id: str, completed: datetime, known: datetime) -> ResultRecord:
    return ResultRecord(
        sport=NBA,
        game_id=game_id,
        home_team="Lakers",
        away_team="Celtics",
        commence_time=completed - 3 * HOUR,
        completed_at=completed,
        home_score=Decimal(100),
        away_score=Decimal(99),
        known_at=known,
    )


def test_awaited_games_are_found_by_when_they_begin(store: Store) -> None:
    games = [awaited(f"g{n}", NOON + n * HOUR) for n in range(3)]
    store.write_many(each.save() for each in games)

    store(games[0].remove())

    assert store(AwaitedGame.started_before(NBA, NOON + 2 * HOUR)) == [games[1]]
    assert store(AwaitedGame.between(NBA, NOON, NOON + 2 * HOUR)) == games[1:]
    assert store(AwaitedGame.by_key(NBA, NOON + HOUR, "g1")) == games[1]
    assert store(AwaitedGame.by_key(NBA, NOON, "g0")) is None


def test_results_come_in_the_order_games_ended_with_each_correction(store: Store) -> None:
    first, second = line("g1", NOON, NOON), line("g0", NOON + HOUR, NOON + HOUR)
    corrected = line("g1", NOON, NOON + 5 * HOUR).replace(corrected=True)
    store.write_many(each.record() for each in (second, corrected, first))

    assert store(ResultRecord.since(NBA, NOON)) == [first, corrected, second]
    assert store(ResultRecord.between(NBA, NOON, NOON)) == [first, corrected]


def test_a_game_is_known_beside_its_prices(store: Store) -> None:
    note = GameInfo(
        game_id=GAME_ODDS.game_id,
        sport=NBA,
        home_team="Lakers",
        away_team="Celtics",
        commence_time=NOON,
        known_at=NOON,
        quoted_at={"fanduel": NOON - HOUR},
    )
    store.write_many((note.save(), GAME_ODDS.put()))

    assert store(GameInfo.of_game(GAME_ODDS.game_id)) == note
    assert store(GameOdds.of_game(GAME_ODDS.game_id)) == [GAME_ODDS]


def test_closing_prices_of_two_players_do_not_collide(store: Store) -> None:
    [closing] = RECORDS["Historical Odds Record"]
    assert isinstance(closing, HistoricalOdds)
    players = [
        closing.replace(market_key="player_points", player=name)
        for name in ("LeBron James", "Jayson Tatum")
    ]

    for each in (closing, *players):
        store(each.archive())

    assert len(store(HistoricalOdds.of_game(closing.game_id))) == 3
    with pytest.raises(ConditionFailed):
        store(players[0].archive())


def test_shadow_bet_is_found_by_game_and_settled_again(store: Store) -> None:
    shadow = ShadowBet(
        game_id="g1",
        sport=NBA,
        home_team="Lakers",
        away_team="Celtics",
        market_key="h2h",
        selection="h2h|home||||",
        prediction="Lakers",
        confidence=Decimal("0.5"),
        odds=-110,
        rule="below_threshold",
        reason="a chance of 0.5",
        reasoning="",
        commence_time=NOON + HOUR,
        placed_at=NOON,
    )
    store(shadow.record())

    judged = store(shadow.settle(NOON, "win", Decimal("0.9091")))

    assert store(ShadowBet.of_game("g1")) == [judged]
    assert store(ShadowBet.since(NOON)) == [judged]
    assert store(ShadowBet.recent()) == [judged]


def test_bennys_bets_are_found_by_game_and_settled_from_their_revision(store: Store) -> None:
    bet = BENNY_BET.replace(selection="h2h|home||||")
    store(bet.place())

    won = store(bet.settle(NOON, "won", "win", payout=Decimal("25.83"), profit=Decimal("10.33")))

    assert store(BennyBet.of_game("abc123")) == [won]
    with pytest.raises(ConditionFailed):
        store(bet.settle(NOON, "lost", "loss", payout=Decimal(0), profit=Decimal("-15.5")))
    assert store(won.settle(NOON, "void", "void", payout=Decimal("15.5"), profit=Decimal(0))) == (
        store(BennyBet.by_key(bet.placed_at, "abc123"))
    )


def test_places_for_models_are_taken_once_and_models_found_by_sport(store: Store) -> None:
    slot = ModelSlot(user_id="user123", slot="0", model_id="model-uuid-456")

    store.all(slot.claim(), USER_MODEL.create())

    assert store(UserModel.of_sport(NBA)) == [USER_MODEL]
    with pytest.raises(ConditionFailed):
        store(slot.replace(model_id="other").claim())


def test_dataset_rows_are_read_part_by_part(store: Store) -> None:
    table = Dataset(
        user_id="ada",
        dataset_id="d1",
        name="Pace",
        sport=NBA,
        subject="team",
        columns=("pace",),
        rows=3,
        parts=2,
        created_at=NOON,
    )
    parts = [DatasetPart(dataset_id="d1", part=f"{n:06d}", content="[]") for n in range(2)]
    store.write_many([*(each.save() for each in parts), table.put()])

    assert store(DatasetPart.of_dataset("d1")) == parts
    assert store(Dataset.of_user("ada")) == [table]
    assert store(Dataset.by_id("bob", "d1")) is None


def test_back_tests_are_newest_first_and_tries_are_counted(store: Store) -> None:
    tests = [
        Backtest(
            user_id="ada",
            backtest_id=f"0{n}",
            model="elo",
            name="elo",
            sport=NBA,
            created_at=NOON,
            content="{}",
        )
        for n in range(3)
    ]
    store.write_many(each.put() for each in tests)

    store(BacktestTrials.count("ada", NBA, Decimal("0.5")))
    counted = store(BacktestTrials.count("ada", NBA, Decimal("-0.1")))

    assert store(Backtest.of_user("ada")) == tests[::-1]
    assert (counted.tries, counted.sharpe_sum, counted.sharpe_squares) == (
        2,
        Decimal("0.4"),
        Decimal("0.26"),
    )


def test_the_small_things_are_found_again(store: Store) -> None:
    meeting = ScheduledGame(
        sport=NBA,
        team="Lakers",
        opponent="Celtics",
        starts_at=NOON,
        is_home=True,
        known_at=NOON - HOUR,
    )
    seen = SportBookmaker(sport=NBA, bookmaker="fanduel", first_seen=NOON)
    use = QuotaUse(source="odds", at=NOON, what="odds/nba", credits=3, left=97)
    thought = CachedOpinion(digest="ab", model_id="rules", prompt="?", answer="{}", at=NOON)

    store.write_many((meeting.save(), seen.save(), use.record(), thought.record()))

    assert store(ScheduledGame.of_team(NBA, "lakers", NOON)) == [meeting]
    assert store(SportBookmaker.of_sport(NBA)) == [seen]
    assert store(QuotaUse.row(source="odds").since(at=NOON)) == [use]
    assert store(CachedOpinion.by_digest("ab")) == thought
