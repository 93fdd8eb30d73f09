"""Benny bets by his rules, says why, keeps what he left alone, and is scored like the models."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from grandstand.apps.bets.service.benny.thinking import Opinion
from grandstand.apps.bets.store import Analysis, ShadowBet, Thought
from grandstand.base.clock import ManualClock
from grandstand.base.errors import Unavailable
from grandstand.kit.llm.port import Ask, LlmUnusable, Reply
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
    """Answers what it is told to, or fails."""

    probability: float = 0.6
    fault: Exception | None = None
    asked: list[Ask[Any]] = field(default_factory=list)
    model_id: str = "scripted/1"
    offline: bool = False

    async def ask(self, question: Ask[Any]) -> Reply[Any]:
        self.asked.append(question)
        await asyncio.sleep(0)
        if self.fault is not None:
            raise self.fault
        opinion = Opinion(probability=self.probability, reasoning="I said so", key_factors=["Home"])
        return Reply(opinion, self.model_id)


def with_llm(clock: ManualClock, llm: ScriptedLlm) -> Stage:
    made = staged(embedded(clock), clock, llm=llm, sports=(NBA,))
    made.odds.games = [GAME]
    return made


async def test_without_a_model_rules_bet_and_say_why(stage: Stage) -> None:
    stage.odds.games = [GAME]
    await stage.bets.collect_odds(NBA)

    done = await stage.bets.trade()

    [bet] = (await stage.bets.benny()).open_bets
    assert (done.placed, done.staked_cents) == (1, bet.stake_cents)
    assert (bet.prediction, bet.price, bet.model_id) == (LAKERS, -105, "rules")
    assert 0 < bet.stake_cents <= 1_000
    assert bet.reasoning.startswith(f"{LAKERS} at -105")
    assert bet.key_factors


async def test_what_a_model_answers_is_recorded_and_replayed(clock: ManualClock) -> None:
    llm = ScriptedLlm()
    stage = with_llm(clock, llm)
    await stage.bets.collect_odds(NBA)

    await stage.bets.trade()
    asked = len(llm.asked)
    await stage.bets.trade()

    [bet] = (await stage.bets.benny()).open_bets
    assert (bet.model_id, bet.reasoning, bet.key_factors) == ("scripted/1", "I said so", ("Home",))
    assert asked == len(llm.asked) == 1
    [kept] = [row for row in [stage.store(Thought.one(_digest(stage)))] if row is not None]
    assert '"probability":0.6' in kept.answer
    assert LAKERS in kept.asked


def _digest(stage: Stage) -> str:
    from grandstand.apps.bets.store import BennyBet

    [bet] = stage.store(BennyBet.recent())
    return bet.thought or ""


@pytest.mark.parametrize("fault", [Unavailable("away"), LlmUnusable("no shape")])
async def test_a_model_that_fails_is_replaced_by_rules(
    clock: ManualClock, fault: Exception
) -> None:
    stage = with_llm(clock, ScriptedLlm(fault=fault))
    await stage.bets.collect_odds(NBA)

    done = await stage.bets.trade()

    [bet] = (await stage.bets.benny()).open_bets
    assert (done.placed, bet.model_id) == (1, "rules")


async def test_an_over_confident_model_is_drawn_to_the_market(clock: ManualClock) -> None:
    stage = with_llm(clock, ScriptedLlm(probability=0.99))
    await stage.bets.collect_odds(NBA)

    await stage.bets.trade()

    [bet] = (await stage.bets.benny()).open_bets
    assert bet.probability == pytest.approx(0.57, abs=0.03)


async def test_what_is_left_alone_is_kept_with_its_rule_and_settled(both: Stage) -> None:
    fair = game(h2h("fanduel", -150, 130), h2h("draftkings", -150, 130))
    both.odds.games = [fair]
    await both.bets.collect_odds(NBA)
    await both.bets.trade()
    both.to(fair.commence_time + timedelta(hours=3))
    both.odds.scores = [score(fair, 112, 108)]

    await both.bets.collect_outcomes(NBA)

    [shadow] = both.store(ShadowBet.of_game("g1"))
    [worth] = (await both.bets.benny()).rules
    assert (shadow.rule, shadow.verdict) == ("too_little_edge", "win")
    assert (worth.rule, worth.rejected, worth.settled, worth.won) == ("too_little_edge", 1, 1, 1)
    assert worth.profit_units == pytest.approx(2 / 3, abs=1e-3)
    assert len((await both.bets.shadow_bets(rule="too_little_edge")).items) == 1


async def test_benny_is_scored_beside_the_models(stage: Stage) -> None:
    stage.odds.games = [GAME]
    await stage.bets.collect_odds(NBA)
    await stage.bets.trade()
    stage.to(GAME.commence_time + timedelta(hours=3))
    stage.odds.scores = [score(GAME, 112, 108)]

    await stage.bets.collect_outcomes(NBA)

    scored = await stage.bets.performance(NBA, "benny")
    [row] = stage.store(Analysis.performance("benny", NBA, NOON))
    assert (scored.decided, scored.correct) == (1, 1)
    assert (row.bookmaker, row.verdict) == ("caesars", "win")


async def test_benny_learns_by_sport_and_kind_from_ten_settled_bets(stage: Stage) -> None:
    games = [
        game(*GAME.prices, game_id=f"g{n}", starts=NOON + timedelta(hours=2 + n)) for n in range(4)
    ]
    stage.odds.games = games
    await stage.bets.collect_odds(NBA)
    await stage.bets.trade()
    stage.to(NOON + timedelta(hours=12))
    stage.odds.scores = [score(each, 112, 108) for each in games]
    await stage.bets.collect_outcomes(NBA)

    await stage.bets.trade()

    learnt = (await stage.bets.benny()).learnt
    assert (learnt.bets, learnt.win_rate) == (4, 1.0)
    assert learnt.adjustment == 0.0
    assert learnt.threshold == stage.bets.settings.benny_threshold
