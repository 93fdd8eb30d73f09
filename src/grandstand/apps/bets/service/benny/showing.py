"""Kept here: Benny in public: his dashboard, his bets, and the worth of his rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from grandstand.apps.bets.model.money.ledger import cents_of, week_of
from grandstand.apps.bets.service.benny.trading import Trading
from grandstand.apps.bets.service.judging.intervals import (
    bins_of,
    mean_interval,
    rate_interval,
    roi_interval,
)
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.money.wager_sums import records_of
from grandstand.apps.bets.service.money_values import (
    BennyBetView,
    BennyView,
    Learnt,
    RuleWorth,
)
from grandstand.apps.bets.service.values import Page
from grandstand.apps.bets.store import BankrollHistory, BennyBet, Learning, ShadowBet

_SHOWN: Final = 20
_CURVE_DAYS: Final = 180
_SHADOW_DAYS: Final = 180
_UNIT: Final = 10_000


class BennyDesk:
    """Shows what Benny has, has bet, has learnt, and has left alone."""

    def __init__(self, means: Means, trading: Trading) -> None:
        self._means = means
        self._trading = trading

    async def view(self) -> BennyView:
        """Answer Benny's dashboard."""
        bets = [each async for each in self._means.each(BennyBet.history())]
        views = [view_of(each) for each in bets]
        settled = [each for each in views if each.status != "pending"]
        decided = [each for each in settled if each.status in {"won", "lost"}]
        money = [_money(each) for each in settled]
        won = [each.status == "won" for each in decided]
        return BennyView(
            bankroll_cents=await self._trading.book.bankroll(),
            open_stakes_cents=await self._trading.book.open_stakes(),
            weekly_budget_cents=self._means.settings.benny_budget_cents,
            week_began=week_of(self._means.now()),
            bets=len(views),
            pending=len(views) - len(settled),
            win_rate=rate_interval(sum(won), len(won)),
            roi=roi_interval(money),
            clv=mean_interval([each.clv for each in views if each.clv is not None]),
            profit_cents=sum(profit for _, profit in money),
            by_sport=records_of((e.sport, *_money(e)) for e in settled),
            by_bet_type=records_of((e.market_key, *_money(e)) for e in settled),
            calibration=bins_of([each.probability for each in decided], won),
            learnt=await self._learnt(),
            curve=await self._curve(),
            open_bets=tuple(each for each in views if each.status == "pending"),
            settled_bets=tuple(settled[:_SHOWN]),
            best=max(settled, key=lambda each: each.profit_cents or 0, default=None),
            worst=min(settled, key=lambda each: each.profit_cents or 0, default=None),
            rules=await self.rules(),
        )

    async def bets(self, *, limit: int, after: str | None) -> Page[BennyBetView]:
        """Answer Benny's bets, newest first."""
        page = await self._means.store.page(BennyBet.history(), limit, after=after)
        return Page(tuple(view_of(each) for each in page.items), page.cursor)

    async def shadow(
        self, *, rule: str | None, limit: int, after: str | None
    ) -> Page[BennyBetView]:
        """Answer what Benny left alone, newest first."""
        reading = ShadowBet.recent()
        if rule is not None:
            reading = reading.where(ShadowBet.rule == rule)
        page = await self._means.store.page(reading, limit, after=after)
        return Page(tuple(shadow_of(each) for each in page.items), page.cursor)

    async def rules(self) -> tuple[RuleWorth, ...]:
        """Answer what each rule kept away within half a year, had a unit been bet each time."""
        since = self._means.now() - timedelta(days=_SHADOW_DAYS)
        found: dict[str, list[ShadowBet]] = defaultdict(list)
        async for each in self._means.each(ShadowBet.since(since)):
            found[each.rule].append(each)
        return tuple(worth_of(rule, bets) for rule, bets in sorted(found.items()))

    async def _learnt(self) -> Learnt:
        kept = await self._means.store(Learning.current())
        base, kelly = self._means.settings.benny_threshold, self._means.settings.benny_kelly
        if kept is None:
            return Learnt(base, 0.0, kelly, None, 0, None)
        adjustment = float(kept.min_confidence_adjustment)
        return Learnt(
            base + adjustment,
            adjustment,
            float(kept.kelly_fraction),
            float(kept.overall_win_rate) if kept.total_bets_analyzed else None,
            kept.total_bets_analyzed,
            kept.last_updated,
        )

    async def _curve(self) -> tuple[tuple[datetime, int], ...]:
        since = self._means.now() - timedelta(days=_CURVE_DAYS)
        points = self._means.each(BankrollHistory.since(since))
        return tuple([(each.updated_at, cents_of(each.amount)) async for each in points])


def worth_of(rule: str, bets: Sequence[ShadowBet]) -> RuleWorth:
    """Answer what a rule kept away."""
    settled = [each for each in bets if each.profit_units is not None]
    units = [float(each.profit_units or 0) for each in settled]
    return RuleWorth(
        rule,
        len(bets),
        len(settled),
        sum(each > 0 for each in units),
        sum(units),
        roi_interval([(_UNIT, round(each * _UNIT)) for each in units]),
    )


def view_of(bet: BennyBet) -> BennyBetView:
    """Answer a bet of Benny's as it is shown."""
    return BennyBetView(
        bet.bet_id,
        bet.game_id,
        bet.sport,
        bet.home_team,
        bet.away_team,
        bet.market_key,
        bet.prediction,
        float(bet.confidence),
        bet.odds,
        cents_of(bet.bet_amount),
        bet.commence_time,
        bet.placed_at,
        bet.status,
        bet.verdict,
        None if bet.payout is None else cents_of(bet.payout),
        None if bet.profit is None else cents_of(bet.profit),
        bet.settled_at,
        bet.ai_reasoning,
        bet.ai_key_factors,
        None if bet.clv is None else float(bet.clv),
        None,
        bet.model_id or "",
    )


def shadow_of(bet: ShadowBet) -> BennyBetView:
    """Answer what Benny left alone as it is shown, as if a dollar had been staked."""
    stake = 100
    profit = None if bet.profit_units is None else round(float(bet.profit_units) * stake)
    return BennyBetView(
        f"SHADOW#{bet.placed_at.isoformat()}#{bet.game_id}#{bet.market_key}",
        bet.game_id,
        bet.sport,
        bet.home_team,
        bet.away_team,
        bet.market_key,
        bet.prediction,
        float(bet.confidence),
        bet.odds,
        stake,
        bet.commence_time,
        bet.placed_at,
        "pending" if bet.verdict is None else bet.verdict,
        bet.verdict,
        None if profit is None else stake + profit,
        profit,
        bet.settled_at,
        bet.why,
        (),
        None,
        bet.rule,
    )


def _money(bet: BennyBetView) -> tuple[int, int]:
    return bet.stake_cents, bet.profit_cents or 0
