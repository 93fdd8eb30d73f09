"""The chances people, Benny and the models gave stand beside what came of them."""

from datetime import timedelta
from decimal import Decimal

import pytest

from grandstand.apps.bets.store.benny import BennyBet
from grandstand.kit.calibration import ResolvedForecast
from tests.apps.bets.records import ANALYSIS, BENNY_BET
from tests.apps.bets.services.test_wagers import DRAFT, GAME
from tests.apps.bets.stage import ADA, BOB, NBA, NOON, Stage, score

pytestmark = pytest.mark.anyio

YESTERDAY = NOON - timedelta(days=1)


@pytest.fixture
async def decided(stage: Stage) -> Stage:
    """Ada won a bet, Benny lost one and has one open, and a model was right once."""
    stage.odds.games = [GAME]
    await stage.bets.odds_collector.collect(NBA)
    await stage.bets.wagers.record(ADA, DRAFT)
    stage.to(GAME.commence_time + timedelta(hours=3))
    stage.odds.scores = [score(GAME, 112, 108)]
    await stage.bets.outcome_collector.collect(NBA)
    lost: BennyBet = BENNY_BET.replace(placed_at=YESTERDAY, status="lost")
    stage.store(lost.place())
    stage.store(BENNY_BET.replace(placed_at=NOON).place())
    right = ANALYSIS.replace(
        commence_time=YESTERDAY,
        created_at=YESTERDAY,
        analysis_correct=True,
        outcome_verified_at=YESTERDAY,
    )
    stage.store(right.put())
    return stage


async def test_each_has_what_they_said_and_whether_it_came_true(decided: Stage) -> None:
    found = {one.who: one for one in await decided.bets.calibration.series(ADA)}

    own, benny, model = found["Your bets"], found["Benny"], found["Consensus"]
    assert (own.whose, own.href) == ("yours", "/bets/mine")
    assert [one.happened for one in own.said] == [True]
    assert own.said[0].chance == pytest.approx(120 / 220)
    assert (benny.whose, benny.said) == ("benny", (ResolvedForecast(0.72, happened=False),))
    assert (model.whose, model.said) == ("model", (ResolvedForecast(0.72, happened=True),))


async def test_what_others_bet_is_nobodys_business(decided: Stage) -> None:
    found = {one.who: one for one in await decided.bets.calibration.series(BOB)}

    assert found["Your bets"].said == ()
    assert len(found["Benny"].said) == 1


async def test_what_is_everybodys_is_read_again_after_five_minutes(decided: Stage) -> None:
    await decided.bets.calibration.series(ADA)
    more: BennyBet = BENNY_BET.replace(
        placed_at=YESTERDAY, game_id="g7", status="won", confidence=Decimal("0.6")
    )
    decided.store(more.place())

    soon = {one.who: one for one in await decided.bets.calibration.series(ADA)}
    decided.clock.advance(301)
    later = {one.who: one for one in await decided.bets.calibration.series(ADA)}

    assert (len(soon["Benny"].said), len(later["Benny"].said)) == (1, 2)
