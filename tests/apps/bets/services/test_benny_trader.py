"""Benny bets by his rules, says why, keeps what he left alone, and is scored like the models."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from grandstand.apps.bets.services.benny_trader import OpinionReply
from grandstand.apps.bets.store.benny import CachedOpinion, ShadowBet
from grandstand.apps.bets.store.predictions import Analysis
from grandstand.core.clock import ManualClock
from grandstand.core.errors import Unavailable
from grandstand.kit.llm import LlmReply, LlmRequest, LlmResponseInvalid
from tests.apps.bets.stage import LAKERS, NBA, NOON, Stage, embedded, game, h2h, score, staged

pytestmark = pytest.mark.anyio
GAME = game(
    h2h("fanduel", -150, 130),
    h2h("draftkings", -152, 131),
    h2h("betmgm", -149, 129),
    h2h("caesars", -105, -112),
)


@dataclass
class ScriptedLlm:
    """Returns scripted replies, or fails."""

    probability: float = 0.6
    fault: Exception | None = None
    asked: list[LlmRequest[Any]] = field(default_factory=list)
    model_id: str = "scripted/1"
    offline: bool = False

    async def ask(self, question: LlmRequest[Any]) -> LlmReply[Any]:
        self.asked.append(question)
        await asyncio.sleep(0)
        if self.fault is not None:
            raise self.fault
        opinion = OpinionReply(
            probability=self.probability, reasoning="I said so", key_factors=["Home"]
        )
        return LlmReply(opinion, self.model_id)


def with_llm(clock: ManualClock, llm: ScriptedLlm) -> Stage:
    made = staged(embedded(clock), clock, llm=llm, sports=(NBA,))
    made.odds.games = [GAME]
    return made


async def test_without_a_model_rules_bet_and_say_why(stage: Stage) -> None:
    stage.odds.games = [GAME]
    await stage.bets.odds_collector.collect(NBA)

    done = await stage.bets.benny_trader.trade()

    [bet] = (await stage.bets.benny.dashboard()).open_bets
    assert (done.placed, done.staked_cents) == (1, bet.stake_cents)
    assert (bet.prediction, bet.price, bet.model_id) == (LAKERS, -105, "rules")
    assert 0 < bet.stake_cents <= 1_000
    assert bet.reasoning.startswith(f"{LAKERS} at -105")
    assert bet.key_factors


async def test_what_a_model_answers_is_recorded_and_replayed(clock: ManualClock) -> None:
    llm = ScriptedLlm()
    stage = with_llm(clock, llm)
    await stage.bets.odds_collector.collect(NBA)

    await stage.bets.benny_trader.trade()
    asked = len(llm.asked)
    await stage.bets.benny_trader.trade()

    [bet] = (await stage.bets.benny.dashboard()).open_bets
    assert (bet.model_id, bet.reasoning, bet.key_factors) == ("scripted/1", "I said so", ("Home",))
    assert asked == len(llm.asked) == 1
    [kept] = [
        row for row in [stage.store(CachedOpinion.by_digest(_digest(stage)))] if row is not None
    ]
    assert '"probability":0.6' in kept.answer
    assert LAKERS in kept.prompt


def _digest(stage: Stage) -> str:
    from grandstand.apps.bets.store.benny import BennyBet

    [bet] = stage.store(BennyBet.recent())
    return bet.opinion_digest or ""


@pytest.mark.parametrize("fault", [Unavailable("away"), LlmResponseInvalid("no shape")])
async def test_a_model_that_fails_is_replaced_by_rules(
    clock: ManualClock, fault: Exception
) -> None:
    stage = with_llm(clock, ScriptedLlm(fault=fault))
    await stage.bets.odds_collector.collect(NBA)

    done = await stage.bets.benny_trader.trade()

    [bet] = (await stage.bets.benny.dashboard()).open_bets
    assert (done.placed, bet.model_id) == (1, "rules")


async def test_an_over_confident_model_is_drawn_to_the_market(clock: ManualClock) -> None:
    stage = with_llm(clock, ScriptedLlm(probability=0.99))
    await stage.bets.odds_collector.collect(NBA)

    await stage.bets.benny_trader.trade()

    [bet] = (await stage.bets.benny.dashboard()).open_bets
    assert bet.probability == pytest.approx(0.57, abs=0.03)


async def test_what_is_left_alone_is_kept_with_its_rule_and_settled(both: Stage) -> None:
    fair = game(h2h("fanduel", -150, 130), h2h("draftkings", -150, 130))
    both.odds.games = [fair]
    await both.bets.odds_collector.collect(NBA)
    await both.bets.benny_trader.trade()
    both.to(fair.commence_time + timedelta(hours=3))
    both.odds.scores = [score(fair, 112, 108)]

    await both.bets.outcome_collector.collect(NBA)

    [shadow] = both.store(ShadowBet.of_game("g1"))
    [worth] = (await both.bets.benny.dashboard()).rules
    assert (shadow.rule, shadow.verdict) == ("too_little_edge", "win")
    assert (worth.rule, worth.rejected, worth.settled, worth.won) == ("too_little_edge", 1, 1, 1)
    assert worth.profit_units == pytest.approx(2 / 3, abs=1e-3)
    assert len((await both.bets.benny.shadow_bets(rule="too_little_edge")).items) == 1


async def test_benny_is_scored_beside_the_models(stage: Stage) -> None:
    stage.odds.games = [GAME]
    await stage.bets.odds_collector.collect(NBA)
    await stage.bets.benny_trader.trade()
    stage.to(GAME.commence_time + timedelta(hours=3))
    stage.odds.scores = [score(GAME, 112, 108)]

    await stage.bets.outcome_collector.collect(NBA)

    scored = await stage.bets.scoreboard.performance(NBA, "benny")
    [row] = stage.store(Analysis.performance("benny", NBA, NOON))
    assert (scored.decided, scored.correct) == (1, 1)
    assert (row.bookmaker, row.verdict) == ("caesars", "win")


async def test_benny_learns_by_sport_and_kind_from_ten_settled_bets(stage: Stage) -> None:
    games = [
        game(*GAME.prices, game_id=f"g{n}", starts=NOON + timedelta(hours=2 + n)) for n in range(4)
    ]
    stage.odds.games = games
    await stage.bets.odds_collector.collect(NBA)
    await stage.bets.benny_trader.trade()
    stage.to(NOON + timedelta(hours=12))
    stage.odds.scores = [score(each, 112, 108) for each in games]
    await stage.bets.outcome_collector.collect(NBA)

    await stage.bets.benny_trader.trade()

    learnt = (await stage.bets.benny.dashboard()).learning
    assert (learnt.bets, learnt.win_rate) == (4, 1.0)
    assert learnt.adjustment == 0.0
    assert learnt.threshold == stage.bets.settings.benny_threshold
