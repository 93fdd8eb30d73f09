"""A result verifies predictions, settles every bet, and does so anew when it is corrected."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from grandstand.apps.bets.domain.ledger import BENNY
from grandstand.apps.bets.domain.records import FeedPlayerStats, FeedScore, FeedStats
from grandstand.apps.bets.services.ingest.outcome_collector import record_result
from grandstand.apps.bets.services.wagers import WagerRequest
from grandstand.apps.bets.store.games import (
    AwaitedGame,
    GameInfo,
    GameOdds,
    GameOutcome,
    HistoricalOdds,
    ResultRecord,
    TeamOutcome,
)
from grandstand.apps.bets.store.predictions import Analysis
from grandstand.apps.bets.store.wagers import LedgerEntry
from tests.apps.bets.scene import PROP
from tests.apps.bets.stage import (
    ADA,
    BOB,
    CELTICS,
    LAKERS,
    NBA,
    NOON,
    Stage,
    game,
    h2h,
    score,
    spread,
)

pytestmark = pytest.mark.anyio
HOUR = timedelta(hours=1)
# One book is far behind, so that Benny finds a bet.
GAME = game(
    h2h("fanduel", -150, 130),
    h2h("draftkings", -152, 131),
    h2h("betmgm", -149, 129),
    h2h("caesars", -105, -112),
    spread("fanduel", "-4"),
    spread("draftkings", "-4"),
)
OVER = GAME.commence_time + 3 * HOUR
PLAYER_BET = WagerRequest(
    "g1", "player_points", "over", -115, 1_000, Decimal("25.5"), participant="Jayson Tatum"
)


async def played(stage: Stage, home: int, away: int, *, bets: bool = True) -> None:
    """Collect, predict, bet, and let the game end."""
    stage.odds.games = [GAME]
    await stage.bets.odds_collector.collect(NBA)
    await stage.bets.analysis_generator.run(NBA)
    if bets:
        await stage.bets.benny_trader.trade()
        await stage.bets.wagers.record(
            ADA, WagerRequest("g1", "spreads", "home", -110, 1_100, Decimal(-4))
        )
    stage.to(OVER)
    stage.odds.scores = [score(GAME, home, away)]


async def test_a_result_settles_everything_once(both: Stage) -> None:
    await played(both, 112, 108)

    first = await both.bets.outcome_collector.collect(NBA)
    again = await both.bets.outcome_collector.collect(NBA)

    assert (first.completed, first.bets, first.wagers) == (1, 1, 1)
    assert first.predictions > 10
    assert (again.completed, again.predictions, again.bets, again.wagers) == (0, 0, 0, 0)
    [bet] = (await both.bets.benny.dashboard()).settled_bets
    assert (bet.status, bet.prediction) == ("won", LAKERS)
    [wager] = (await both.bets.wagers.list_wagers(ADA)).items
    assert (wager.verdict, wager.payout_cents, wager.profit_cents) == ("push", 1_100, 0)
    assert (await both.bets.ledger.verify()).sound
    assert both.store(AwaitedGame.started_before(NBA, OVER)) == []


async def test_how_bets_ended_is_told_once_with_a_way_to_the_game(both: Stage) -> None:
    await played(both, 112, 108)

    await both.bets.outcome_collector.collect(NBA)
    await both.bets.outcome_collector.collect(NBA)

    events = await both.events.recent(10, ADA)
    assert {(one.app, one.kind, one.href) for one in events} == {
        ("bets", "settled", "/bets/games/g1")
    }
    teams = f"{LAKERS} v {CELTICS}"
    mine, bennys = sorted((one.text for one in events), reverse=True)
    assert mine == f"Your bet on {LAKERS} -4, {teams}: push, $0.00"
    assert bennys.startswith(f"Benny\u2019s bet on {LAKERS}, {teams}: win, +$")
    assert [one.text for one in await both.events.recent(10, BOB)] == [bennys]


async def test_a_corrected_score_is_a_new_row_and_settles_anew_by_reversing(both: Stage) -> None:
    await played(both, 112, 108)
    await both.bets.outcome_collector.collect(NBA)
    before = (await both.bets.benny.dashboard()).bankroll_cents
    both.clock.advance(3600)
    both.odds.scores = [score(GAME, 107, 108)]

    report = await both.bets.outcome_collector.collect(NBA)

    assert (report.corrected, report.bets, report.wagers) == (1, 1, 1)
    assert [row.home_score for row in both.store(GameOutcome.row(sport=NBA, game_id="g1"))] == [
        112,
        107,
    ]
    benny = await both.bets.benny.dashboard()
    [bet] = benny.settled_bets
    assert (bet.status, bet.profit_cents) == ("lost", -bet.stake_cents)
    assert benny.bankroll_cents < before
    kinds = [entry.kind for entry in both.store(LedgerEntry.of_book(BENNY))]
    assert kinds == ["budget", "place", "settle", "reverse", "resettle"]
    proofs = [proof async for proof in both.bets.ledger.verify_all()]
    assert [(proof.book, proof.faults) for proof in proofs] == [("benny", ()), ("user:ada", ())]
    [wager] = (await both.bets.wagers.list_wagers(ADA)).items
    assert (wager.verdict, wager.profit_cents) == ("loss", -1_100)


async def test_closing_prices_are_the_last_before_the_start(stage: Stage) -> None:
    stage.odds.games = [GAME]
    await stage.bets.odds_collector.collect(NBA)
    stage.to(GAME.commence_time - HOUR)
    late = game(h2h("fanduel", -200, 170))
    stage.odds.games = [late]
    await stage.bets.odds_collector.collect(NBA)
    stage.to(OVER)
    stage.odds.scores = [score(GAME, 112, 108)]

    await stage.bets.outcome_collector.collect(NBA)

    closing = {row.bookmaker: row for row in stage.store(HistoricalOdds.of_game("g1"))}
    prices = {each.name: each.price for each in closing["fanduel"].outcomes if each.point is None}
    assert closing["fanduel"].updated_at in {NOON, GAME.commence_time - HOUR}
    assert prices in ({}, {LAKERS: -200, CELTICS: 170})
    assert stage.store(GameOdds.upcoming(NBA, NOON)) == []


async def test_predictions_are_verified_by_type_and_scored_with_the_close(stage: Stage) -> None:
    await played(stage, 112, 108, bets=False)

    await stage.bets.outcome_collector.collect(NBA)

    rows = stage.store(Analysis.of_model_for_game(NBA, "g1", "fanduel", "consensus"))
    by_market = {(row.market_key, bool(row.is_inverse)): row for row in rows}
    winner, inverse = by_market[None, False], by_market[None, True]
    assert (winner.verdict, winner.analysis_correct, winner.actual_home_won) == ("win", True, True)
    assert (inverse.verdict, inverse.analysis_correct) == ("loss", False)
    assert winner.clv is not None
    assert (by_market["spreads", False].verdict, by_market["spreads", False].analysis_correct) == (
        "push",
        None,
    )


async def test_form_and_results_are_kept_for_both_teams(stage: Stage) -> None:
    await played(stage, 108, 112, bets=False)

    await stage.bets.outcome_collector.collect(NBA)

    [home] = stage.store(TeamOutcome.recent(NBA, LAKERS))
    [away] = stage.store(TeamOutcome.recent(NBA, CELTICS))
    [line] = stage.store(ResultRecord.since(NBA, NOON))
    assert (int(home.team_score), home.is_home, home.winner) == (108, True, CELTICS)
    assert (int(away.team_score), away.is_home) == (112, False)
    assert line.known_at >= line.completed_at > GAME.commence_time


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"home_score": None}, "has no score"),
        ({"home_score": Decimal(-1)}, "Invalid score"),
        ({"home_score": Decimal("1.5")}, "Invalid score"),
        ({"home_team": "Miami Heat"}, "The stored game is Los Angeles Lakers"),
        ({"away_team": LAKERS}, "two different names"),
        ({"commence_time": OVER + HOUR}, "before its start"),
    ],
)
async def test_a_score_that_cannot_be_is_refused_and_nothing_is_written(
    stage: Stage, change: dict[str, object], why: str
) -> None:
    await played(stage, 1, 0, bets=False)
    bad: FeedScore = replace(score(GAME, 112, 108), **change)  # type: ignore[arg-type]
    stage.odds.scores = [bad]

    report = await stage.bets.outcome_collector.collect(NBA)

    assert [why in each.reason for each in report.rejected] == [True]
    assert stage.store(GameOutcome.row(sport=NBA, game_id="g1")) == []
    assert stage.store(AwaitedGame.by_key(NBA, GAME.commence_time, "g1")) is not None


async def test_what_is_not_completed_is_left_alone(stage: Stage) -> None:
    await played(stage, 1, 0, bets=False)
    stage.odds.scores = [replace(score(GAME, 50, 40), completed=False)]

    report = await stage.bets.outcome_collector.collect(NBA)

    assert report.completed == 0
    assert await stage.bets.ledger.is_posted(BENNY, "settle") is False


async def test_whoever_dies_after_a_correction_leaves_it_to_be_settled(stage: Stage) -> None:
    await played(stage, 112, 108)
    await stage.bets.outcome_collector.collect(NBA)
    note = stage.store.read(GameInfo.of_game("g1"))
    _, status = await record_result(stage.db, score(GAME, 107, 108), note)
    stage.odds.scores = [score(GAME, 107, 108)]

    again = await stage.bets.outcome_collector.collect(NBA)

    assert (status, again.corrected, again.bets, again.wagers) == ("corrected", 0, 1, 1)
    [wager] = (await stage.bets.wagers.list_wagers(ADA)).items
    assert wager.verdict == "loss"
    assert stage.store(AwaitedGame.started_before(NBA, OVER)) == []


async def test_a_bet_that_waits_for_figures_does_not_widen_what_is_asked_elsewhere(
    stage: Stage,
) -> None:
    stage.odds.games = [game(h2h("fanduel", -150, 130), PROP)]
    await stage.bets.odds_collector.collect(NBA)
    await stage.bets.wagers.record(ADA, PLAYER_BET)
    stage.to(OVER)
    stage.odds.scores = [score(GAME, 112, 108)]
    await stage.bets.outcome_collector.collect(NBA)
    stage.to(NOON + timedelta(days=40))
    unheard = game(
        h2h("fanduel", -150, 130), game_id="g2", starts=NOON + timedelta(days=41), away="Phoenix"
    )
    stage.odds.games, stage.odds.scores = [replace(unheard, prices=())], []
    await stage.bets.odds_collector.collect(NBA)
    stage.to(NOON + timedelta(days=46))

    await stage.bets.outcome_collector.collect(NBA)

    day = unheard.commence_time.date()
    assert stage.stats.asked == [(day - timedelta(days=1), day + timedelta(days=1))]


async def test_a_bet_on_a_player_is_settled_by_a_feed_with_ids_of_its_own(stage: Stage) -> None:
    stage.odds.games = [game(h2h("fanduel", -150, 130), PROP)]
    await stage.bets.odds_collector.collect(NBA)
    await stage.bets.wagers.record(ADA, PLAYER_BET)
    stage.to(OVER)
    stage.odds.scores = [score(GAME, 112, 108)]
    await stage.bets.outcome_collector.collect(NBA)
    stage.stats.stats = FeedStats(
        players=(
            FeedPlayerStats(
                NBA,
                "Jayson Tatum",
                CELTICS,
                "espn-401",
                {"PTS": Decimal(31)},
                OVER,
                LAKERS,
                GAME.commence_time + timedelta(minutes=10),
            ),
        )
    )
    await stage.bets.stats_collector.collect_stats(NBA)

    done = await stage.bets.outcome_collector.collect(NBA)

    (wager,) = (await stage.bets.wagers.list_wagers(ADA)).items
    assert (done.wagers, wager.verdict) == (1, "win")


async def test_a_bet_on_a_player_whose_figures_never_come_is_void_in_the_end(stage: Stage) -> None:
    stage.odds.games = [game(h2h("fanduel", -150, 130), PROP)]
    await stage.bets.odds_collector.collect(NBA)
    await stage.bets.wagers.record(ADA, PLAYER_BET)
    stage.to(OVER)
    stage.odds.scores = [score(GAME, 112, 108)]
    await stage.bets.outcome_collector.collect(NBA)
    stage.odds.scores = []
    stage.to(GAME.commence_time + timedelta(days=20))
    early = await stage.bets.outcome_collector.collect(NBA)
    stage.to(GAME.commence_time + timedelta(days=22))

    late = await stage.bets.outcome_collector.collect(NBA)

    (wager,) = (await stage.bets.wagers.list_wagers(ADA)).items
    assert (early.wagers, late.wagers) == (0, 1)
    assert (wager.verdict, wager.payout_cents) == ("void", 1_000)
    assert (await stage.bets.ledger.verify("user:ada")).sound
    assert stage.store(AwaitedGame.started_before(NBA, stage.clock.now())) == []
