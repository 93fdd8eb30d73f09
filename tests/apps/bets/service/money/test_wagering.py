"""People's bets are recorded within their limits, once, and summed up honestly."""

from datetime import timedelta
from decimal import Decimal

import pytest

from grandstand.apps.bets.service import (
    FileRefused,
    GameUnknown,
    LimitsDraft,
    LimitsRefused,
    LossLimit,
    StakeLimit,
    TimedOut,
    WagerClosed,
    WagerDraft,
    WagerRefused,
    WagerUnknown,
)
from tests.apps.bets.stage import ADA, BOB, NBA, NOON, Stage, game, h2h, score, spread

pytestmark = pytest.mark.anyio
GAME = game(h2h("fanduel", -150, 130), h2h("draftkings", -150, 130), spread("fanduel", "-3.5"))
DRAFT = WagerDraft("g1", "h2h", "home", -120, 1_200, bookmaker="fanduel", token="t1")
HEADER = b"game_id,market,side,price,stake,point\n"


@pytest.fixture
async def on(both: Stage) -> Stage:
    """A game to bet on, on each kind of store."""
    both.odds.games = [GAME]
    await both.bets.collect_odds(NBA)
    return both


@pytest.fixture
async def at(stage: Stage) -> Stage:
    """A game to bet on, in memory."""
    stage.odds.games = [GAME]
    await stage.bets.collect_odds(NBA)
    return stage


async def test_a_bet_is_recorded_once_however_often_it_is_sent(on: Stage) -> None:
    first = await on.bets.record_wager(ADA, DRAFT)
    on.clock.advance(5)
    again = await on.bets.record_wager(ADA, DRAFT)
    other = await on.bets.record_wager(BOB, DRAFT)

    assert again.wager_id == first.wager_id
    assert other.wager_id != first.wager_id
    assert len((await on.bets.wagers(ADA)).items) == 1
    assert (await on.bets.wager_summary(ADA)).open_stakes_cents == 1_200
    assert (await on.bets.verify_ledger("user:ada")).sound


async def test_limits_hold_for_a_bet_a_day_and_a_week(on: Stage) -> None:
    await on.bets.set_limits(ADA, LimitsDraft(1_500, 3_000, 2_500))

    await on.bets.record_wager(ADA, DRAFT)

    with pytest.raises(StakeLimit, match="a bet"):
        await on.bets.record_wager(ADA, WagerDraft("g1", "h2h", "away", 130, 1_501))
    with pytest.raises(LossLimit, match="at stake"):
        await on.bets.record_wager(ADA, WagerDraft("g1", "h2h", "away", 130, 1_301))
    view = await on.bets.limits(ADA)
    assert (view.staked_today_cents, view.lost_this_week_cents) == (1_200, 0)
    assert len((await on.bets.wagers(ADA)).items) == 1


async def test_losing_counts_for_the_week_and_a_looser_limit_waits_a_day(at: Stage) -> None:
    await at.bets.set_limits(ADA, LimitsDraft(loss_per_week_cents=2_000))
    await at.bets.record_wager(ADA, DRAFT)
    at.to(GAME.commence_time + timedelta(hours=3))
    at.odds.scores = [score(GAME, 100, 101)]
    await at.bets.collect_outcomes(NBA)
    later = game(h2h("fanduel", -150, 130), game_id="g2", starts=at.clock.now() + timedelta(days=2))
    at.odds.games = [later]
    await at.bets.collect_odds(NBA)
    wish = WagerDraft("g2", "h2h", "home", -110, 900)

    with pytest.raises(LossLimit, match=r"\$12.00 is lost"):
        await at.bets.record_wager(ADA, wish)
    loosened = await at.bets.set_limits(ADA, LimitsDraft(loss_per_week_cents=5_000))
    with pytest.raises(LossLimit):
        await at.bets.record_wager(ADA, wish)
    at.clock.advance(86_400)
    recorded = await at.bets.record_wager(ADA, wish)

    assert (loosened.loss_per_week_cents, loosened.lost_this_week_cents) == (2_000, 1_200)
    assert loosened.loosens_at is not None
    assert recorded.status == "open"


async def test_time_out_lets_nothing_pass_and_is_not_shortened(at: Stage) -> None:
    until = NOON + timedelta(days=3)
    await at.bets.time_out(ADA, until)

    shorter = await at.bets.time_out(ADA, NOON + timedelta(days=1))

    assert shorter.time_out_until == until
    with pytest.raises(TimedOut, match="2026-02-14"):
        await at.bets.record_wager(ADA, DRAFT)
    with pytest.raises(LimitsRefused, match="future"):
        await at.bets.time_out(ADA, NOON)
    with pytest.raises(LimitsRefused, match="0 or more"):
        await at.bets.set_limits(ADA, LimitsDraft(stake_per_bet_cents=-1))


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (WagerDraft("g1", "h2h", "home", -50, 100), "no American price"),
        (WagerDraft("g1", "h2h", "middle", -110, 100), "is no side"),
        (WagerDraft("g1", "h2h", "over", -110, 100), "cannot be on"),
        (WagerDraft("g1", "spreads", "home", -110, 100), "needs a line"),
        (WagerDraft("g1", "spreads", "home", -110, 100, Decimal("3.1")), "quarters"),
        (WagerDraft("g1", "corners", "home", -110, 100), "is no market"),
        (WagerDraft("g1", "h2h", "home", -110, 0), "at least a cent"),
        (
            WagerDraft("g1", "h2h", "home", -110, 100, placed_at=NOON + timedelta(hours=1)),
            "in the future",
        ),
        (
            WagerDraft("g1", "player_points", "over", -110, 100, Decimal("25.5")),
            "names the wrong one",
        ),
    ],
)
async def test_a_bet_that_cannot_be_is_refused_with_the_reason(
    at: Stage, draft: WagerDraft, why: str
) -> None:
    with pytest.raises(WagerRefused, match=why):
        await at.bets.record_wager(ADA, draft)

    assert (await at.bets.wagers(ADA)).items == ()
    assert (await at.bets.verify_ledger("user:ada")).entries == 0


async def test_a_game_nobody_knows_or_that_has_begun_takes_no_bet(at: Stage) -> None:
    with pytest.raises(GameUnknown):
        await at.bets.record_wager(ADA, WagerDraft("g9", "h2h", "home", -110, 100))
    at.to(GAME.commence_time)
    with pytest.raises(WagerRefused, match="The game began"):
        await at.bets.record_wager(ADA, DRAFT)


async def test_a_bet_is_taken_back_only_while_it_is_open_and_only_by_its_owner(at: Stage) -> None:
    wager = await at.bets.record_wager(ADA, DRAFT)
    with pytest.raises(WagerUnknown):
        await at.bets.remove_wager(BOB, wager.wager_id)
    await at.bets.remove_wager(ADA, wager.wager_id)
    kept = await at.bets.record_wager(ADA, WagerDraft("g1", "h2h", "away", 130, 500))
    at.to(GAME.commence_time)

    with pytest.raises(WagerClosed):
        await at.bets.remove_wager(ADA, kept.wager_id)

    with pytest.raises(WagerRefused, match="taken back before"):
        await at.bets.record_wager(
            ADA, DRAFT.__class__("g1", "h2h", "home", -120, 1_200, token="t1", placed_at=NOON)
        )
    proof = await at.bets.verify_ledger("user:ada")
    assert (proof.sound, proof.balances["stakes"]) == (True, 500)


async def test_a_file_is_recorded_line_by_line_and_known_the_second_time(at: Stage) -> None:
    content = HEADER + (
        b"g1,h2h,home,-120,12.00,\n"
        b"g1,spreads,away,-110,5,3.5\n"
        b"g1,h2h,home,soon,5,\n"
        b"g9,h2h,home,-110,5,\n"
        b"g1,h2h,home,-110,1.005,\n"
    )

    first = await at.bets.import_wagers(ADA, content)
    again = await at.bets.import_wagers(ADA, content)

    assert (first.recorded, first.known, again.recorded, again.known) == (2, 0, 0, 2)
    assert [number for number, _ in first.refused] == [4, 5, 6]
    assert (await at.bets.wager_summary(ADA)).open_stakes_cents == 1_700
    with pytest.raises(FileRefused, match="missing: game_id"):
        await at.bets.import_wagers(ADA, b"a,b\n1,2\n")


@pytest.mark.parametrize("stake", [b"1e99999999", b"1e-99999999", b"NaN", b"-5", b"0"])
async def test_a_stake_nobody_can_bet_is_refused_by_its_line(at: Stage, stake: bytes) -> None:
    taken = await at.bets.import_wagers(ADA, HEADER + b"g1,h2h,home,-120," + stake + b",\n")

    assert [number for number, _ in taken.refused] == [2]
    assert (await at.bets.wagers(ADA)).items == ()


async def test_a_file_torn_within_quotes_is_refused_whole(at: Stage) -> None:
    torn = HEADER + b'g1,h2h,home,-120,12.00,\n"g1,h2h,home,-110,5'

    with pytest.raises(FileRefused, match="no CSV at line 3"):
        await at.bets.import_wagers(ADA, torn)

    assert (await at.bets.wagers(ADA)).items == ()


async def test_settled_bets_show_return_and_closing_value(at: Stage) -> None:
    await at.bets.record_wager(ADA, DRAFT)
    at.to(GAME.commence_time + timedelta(hours=3))
    at.odds.scores = [score(GAME, 112, 108)]

    await at.bets.collect_outcomes(NBA)

    [wager] = (await at.bets.wagers(ADA)).items
    summary = await at.bets.wager_summary(ADA)
    assert (wager.status, wager.profit_cents, wager.payout_cents) == ("settled", 1_000, 2_200)
    # -120 taken, 0.584 fair at the close: 1.8333 x 0.584 - 1.
    assert wager.clv == pytest.approx(0.0706, abs=0.001)
    assert summary.roi is not None
    assert summary.roi.value == pytest.approx(10 / 12)
    assert (summary.profit_cents, summary.open) == (1_000, 0)
