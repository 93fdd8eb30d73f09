"""People's bets are recorded within their limits, once, and summed up honestly."""

from datetime import timedelta
from decimal import Decimal

import pytest

from grandstand.apps.bets.domain.ledger import (
    BetLimits,
    LossLimitReached,
    StakeLimitReached,
    TimeOutActive,
)
from grandstand.apps.bets.services.wagers import WagerRequest
from grandstand.core.errors import Conflict, InvalidInput, NotFound
from tests.apps.bets.stage import ADA, BOB, NBA, NOON, Stage, game, h2h, score, spread

pytestmark = pytest.mark.anyio
GAME = game(h2h("fanduel", -150, 130), h2h("draftkings", -150, 130), spread("fanduel", "-3.5"))
DRAFT = WagerRequest("g1", "h2h", "home", -120, 1_200, bookmaker="fanduel", token="t1")
HEADER = b"game_id,market,side,price,stake,point\n"


@pytest.fixture
async def on(both: Stage) -> Stage:
    """A game to bet on, on each kind of store."""
    both.odds.games = [GAME]
    await both.bets.odds_collector.collect(NBA)
    return both


@pytest.fixture
async def at(stage: Stage) -> Stage:
    """A game to bet on, in memory."""
    stage.odds.games = [GAME]
    await stage.bets.odds_collector.collect(NBA)
    return stage


async def test_a_bet_is_recorded_once_however_often_it_is_sent(on: Stage) -> None:
    first = await on.bets.wagers.record(ADA, DRAFT)
    on.clock.advance(5)
    again = await on.bets.wagers.record(ADA, DRAFT)
    other = await on.bets.wagers.record(BOB, DRAFT)

    assert again.wager_id == first.wager_id
    assert other.wager_id != first.wager_id
    assert len((await on.bets.wagers.list_wagers(ADA)).items) == 1
    assert (await on.bets.wagers.summary(ADA)).open_stakes_cents == 1_200
    assert (await on.bets.ledger.verify("user:ada")).sound


async def test_limits_hold_for_a_bet_a_day_and_a_week(on: Stage) -> None:
    await on.bets.limits.update(ADA, BetLimits(1_500, 3_000, 2_500))

    await on.bets.wagers.record(ADA, DRAFT)

    with pytest.raises(StakeLimitReached, match="per bet"):
        await on.bets.wagers.record(ADA, WagerRequest("g1", "h2h", "away", 130, 1_501))
    with pytest.raises(LossLimitReached, match="loss limit"):
        await on.bets.wagers.record(ADA, WagerRequest("g1", "h2h", "away", 130, 1_301))
    view = await on.bets.limits.get(ADA)
    assert (view.staked_today_cents, view.lost_this_week_cents) == (1_200, 0)
    assert len((await on.bets.wagers.list_wagers(ADA)).items) == 1


async def test_losing_counts_for_the_week_and_a_looser_limit_waits_a_day(at: Stage) -> None:
    await at.bets.limits.update(ADA, BetLimits(loss_per_week=2_000))
    await at.bets.wagers.record(ADA, DRAFT)
    at.to(GAME.commence_time + timedelta(hours=3))
    at.odds.scores = [score(GAME, 100, 101)]
    await at.bets.outcome_collector.collect(NBA)
    later = game(h2h("fanduel", -150, 130), game_id="g2", starts=at.clock.now() + timedelta(days=2))
    at.odds.games = [later]
    await at.bets.odds_collector.collect(NBA)
    wish = WagerRequest("g2", "h2h", "home", -110, 900)

    with pytest.raises(LossLimitReached, match=r"\$12.00 lost"):
        await at.bets.wagers.record(ADA, wish)
    loosened = await at.bets.limits.update(ADA, BetLimits(loss_per_week=5_000))
    with pytest.raises(LossLimitReached):
        await at.bets.wagers.record(ADA, wish)
    at.clock.advance(86_400)
    recorded = await at.bets.wagers.record(ADA, wish)

    assert (loosened.loss_per_week_cents, loosened.lost_this_week_cents) == (2_000, 1_200)
    assert loosened.loosens_at is not None
    assert recorded.status == "open"


async def test_time_out_lets_nothing_pass_and_is_not_shortened(at: Stage) -> None:
    until = NOON + timedelta(days=3)
    await at.bets.limits.time_out(ADA, until)

    shorter = await at.bets.limits.time_out(ADA, NOON + timedelta(days=1))

    assert shorter.time_out_until == until
    with pytest.raises(TimeOutActive, match="2026-02-14"):
        await at.bets.wagers.record(ADA, DRAFT)
    with pytest.raises(InvalidInput, match="future"):
        await at.bets.limits.time_out(ADA, NOON)
    with pytest.raises(InvalidInput, match="0 or more"):
        await at.bets.limits.update(ADA, BetLimits(stake_per_bet=-1))


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (WagerRequest("g1", "h2h", "home", -50, 100), "Invalid American price"),
        (WagerRequest("g1", "h2h", "middle", -110, 100), "Invalid side"),
        (WagerRequest("g1", "h2h", "over", -110, 100), "has no side"),
        (WagerRequest("g1", "spreads", "home", -110, 100), "requires a line"),
        (WagerRequest("g1", "spreads", "home", -110, 100, Decimal("3.1")), "multiples of 0.25"),
        (WagerRequest("g1", "corners", "home", -110, 100), "Unknown market"),
        (WagerRequest("g1", "h2h", "home", -110, 0), "Use 1 cent"),
        (
            WagerRequest("g1", "h2h", "home", -110, 100, placed_at=NOON + timedelta(hours=1)),
            "in the future",
        ),
        (
            WagerRequest("g1", "player_points", "over", -110, 100, Decimal("25.5")),
            "Invalid participant",
        ),
    ],
)
async def test_a_bet_that_cannot_be_is_refused_with_the_reason(
    at: Stage, draft: WagerRequest, why: str
) -> None:
    with pytest.raises(InvalidInput, match=why):
        await at.bets.wagers.record(ADA, draft)

    assert (await at.bets.wagers.list_wagers(ADA)).items == ()
    assert (await at.bets.ledger.verify("user:ada")).entries == 0


async def test_a_game_nobody_knows_or_that_has_begun_takes_no_bet(at: Stage) -> None:
    with pytest.raises(NotFound):
        await at.bets.wagers.record(ADA, WagerRequest("g9", "h2h", "home", -110, 100))
    at.to(GAME.commence_time)
    with pytest.raises(InvalidInput, match="The game started"):
        await at.bets.wagers.record(ADA, DRAFT)


async def test_a_bet_is_taken_back_only_while_it_is_open_and_only_by_its_owner(at: Stage) -> None:
    wager = await at.bets.wagers.record(ADA, DRAFT)
    with pytest.raises(NotFound):
        await at.bets.wagers.remove(BOB, wager.wager_id)
    await at.bets.wagers.remove(ADA, wager.wager_id)
    kept = await at.bets.wagers.record(ADA, WagerRequest("g1", "h2h", "away", 130, 500))
    at.to(GAME.commence_time)

    with pytest.raises(Conflict):
        await at.bets.wagers.remove(ADA, kept.wager_id)

    with pytest.raises(InvalidInput, match="withdrawn before"):
        await at.bets.wagers.record(
            ADA, DRAFT.__class__("g1", "h2h", "home", -120, 1_200, token="t1", placed_at=NOON)
        )
    proof = await at.bets.ledger.verify("user:ada")
    assert (proof.sound, proof.balances["stakes"]) == (True, 500)


async def test_a_file_is_recorded_line_by_line_and_known_the_second_time(at: Stage) -> None:
    content = HEADER + (
        b"g1,h2h,home,-120,12.00,\n"
        b"g1,spreads,away,-110,5,3.5\n"
        b"g1,h2h,home,soon,5,\n"
        b"g9,h2h,home,-110,5,\n"
        b"g1,h2h,home,-110,1.005,\n"
    )

    first = await at.bets.wagers.import_file(ADA, content)
    again = await at.bets.wagers.import_file(ADA, content)

    assert (first.recorded, first.already_recorded, again.recorded, again.already_recorded) == (
        2,
        0,
        0,
        2,
    )
    assert [rejected.line for rejected in first.rejected] == [4, 5, 6]
    assert (await at.bets.wagers.summary(ADA)).open_stakes_cents == 1_700
    with pytest.raises(InvalidInput, match="Missing: game_id"):
        await at.bets.wagers.import_file(ADA, b"a,b\n1,2\n")


@pytest.mark.parametrize("stake", [b"1e99999999", b"1e-99999999", b"NaN", b"-5", b"0"])
async def test_a_stake_nobody_can_bet_is_refused_by_its_line(at: Stage, stake: bytes) -> None:
    taken = await at.bets.wagers.import_file(ADA, HEADER + b"g1,h2h,home,-120," + stake + b",\n")

    assert [rejected.line for rejected in taken.rejected] == [2]
    assert (await at.bets.wagers.list_wagers(ADA)).items == ()


async def test_a_file_torn_within_quotes_is_refused_whole(at: Stage) -> None:
    torn = HEADER + b'g1,h2h,home,-120,12.00,\n"g1,h2h,home,-110,5'

    with pytest.raises(InvalidInput, match="Invalid CSV at line 3"):
        await at.bets.wagers.import_file(ADA, torn)

    assert (await at.bets.wagers.list_wagers(ADA)).items == ()


async def test_settled_bets_show_return_and_closing_value(at: Stage) -> None:
    await at.bets.wagers.record(ADA, DRAFT)
    at.to(GAME.commence_time + timedelta(hours=3))
    at.odds.scores = [score(GAME, 112, 108)]

    await at.bets.outcome_collector.collect(NBA)

    [wager] = (await at.bets.wagers.list_wagers(ADA)).items
    summary = await at.bets.wagers.summary(ADA)
    assert (wager.status, wager.profit_cents, wager.payout_cents) == ("settled", 1_000, 2_200)
    # -120 taken, 0.584 fair at the close: 1.8333 x 0.584 - 1.
    assert wager.clv == pytest.approx(0.0706, abs=0.001)
    assert summary.roi is not None
    assert summary.roi.value == pytest.approx(10 / 12)
    assert (summary.profit_cents, summary.open) == (1_000, 0)
