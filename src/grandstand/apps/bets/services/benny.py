"""Benny's bankroll, and the public dashboard of his bets, learning and rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field, computed_field

from grandstand.apps.bets.domain.ledger import (
    BANKROLL,
    BENNY,
    HOUSE,
    STAKES,
    Cents,
    LedgerEvent,
    cents_to_dollars,
    dollars_to_cents,
    replace_account,
    reverse_postings,
    transfer,
    week_start,
)
from grandstand.apps.bets.domain.records import CalibrationBin, GameRef, Interval
from grandstand.apps.bets.domain.settlement import Payout, Verdict, pay_bet
from grandstand.apps.bets.services.database import Database, MoneyCents, copy_as
from grandstand.apps.bets.services.ledger import BookState, LedgerService, LedgerStep, PostStatus
from grandstand.apps.bets.services.scoreboard import (
    BalancePoint,
    BetRecord,
    calibration_bins,
    interval_value,
    mean_interval,
    rate_interval,
    roi_interval,
    summarize_by_kind,
)
from grandstand.apps.bets.services.settlement import (
    ClosingValue,
    describe_result,
    settlement_postings,
)
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.store.benny import (
    Bankroll,
    BankrollHistory,
    BennyBet,
    Learning,
    ShadowBet,
)
from grandstand.kit.cursors import Page
from grandstand.kit.events import Events
from grandstand.storage.tables.operations.item_ops import Write


@dataclass(frozen=True, slots=True, kw_only=True)
class BennyBankroll:
    """Moves Benny's money; bet, bankroll and ledger change in one transaction."""

    db: Database
    settings: BetsSettings
    ledger: LedgerService
    events: Events

    async def bankroll(self) -> Cents:
        """Return the available bankroll."""
        return (await self.ledger.state(BENNY)).head.balances.get(BANKROLL, 0)

    async def open_stakes(self) -> Cents:
        """Return the stakes of unsettled bets."""
        return (await self.ledger.state(BENNY)).head.balances.get(STAKES, 0)

    async def begin_week(self) -> bool:
        """Reset the bankroll to the weekly budget, once a week. Returns whether it was reset.

        The difference is transferred from or to the house account.
        """
        now = self.db.now()
        week, budget = week_start(now), self.settings.benny_budget_cents
        key = f"week:{week:%Y-%m-%d}"
        if await self.ledger.is_posted(BENNY, key):
            return False
        await self._adopt(now)
        first = await self.db.store(Bankroll.current()) is None

        def step(state: BookState) -> LedgerStep:
            missing = budget - state.head.balances.get(BANKROLL, 0)
            event = LedgerEvent(key, "budget", now, transfer(HOUSE, BANKROLL, missing))
            row: Write
            if first:
                row = Bankroll(
                    amount=cents_to_dollars(budget), last_reset=week, updated_at=now
                ).open()
            else:
                row = Bankroll.start_week(cents_to_dollars(missing), week, now)
            return LedgerStep((event,), (row, self._history(budget, now)))

        return await self.ledger.post(BENNY, key, step) == "posted"

    async def _adopt(self, now: datetime) -> None:
        """Enter a bankroll that was stored before the ledger existed."""
        stored = await self.db.store(Bankroll.current())
        if stored is None or (await self.ledger.state(BENNY)).head.seq:
            return
        amount = dollars_to_cents(stored.amount)

        def step(state: BookState) -> LedgerStep | None:
            if state.head.seq:
                return None
            return LedgerStep(
                (LedgerEvent("opening", "budget", now, transfer(HOUSE, BANKROLL, amount)),)
            )

        await self.ledger.post(BENNY, "opening", step)

    async def place(
        self, bet: BennyBet, stake: Cents, extra_writes: Sequence[Write] = ()
    ) -> PostStatus:
        """Place a bet, once per game and market, together with `extra_writes`.

        Raises AccountOverdrawn if the bankroll does not cover the stake.
        """
        key = f"place:{bet.game_id}:{bet.market_key}"

        def step(state: BookState) -> LedgerStep:
            before = state.head.balances.get(BANKROLL, 0)
            placed = bet.replace(
                bankroll_before=cents_to_dollars(before), week=week_start(bet.placed_at)
            )
            event = LedgerEvent(key, "place", bet.placed_at, transfer(BANKROLL, STAKES, stake))
            withdrawal = Bankroll.withdraw(cents_to_dollars(stake), bet.placed_at)
            after = self._history(before - stake, bet.placed_at)
            return LedgerStep((event,), (placed.place(), withdrawal, after, *extra_writes))

        return await self.ledger.post(BENNY, key, step)

    async def settle(self, bet: BennyBet, verdict: Verdict, closing: ClosingValue) -> bool:
        """Settle a bet, again after a corrected result. Returns whether anything changed.

        A correction first reverses the previous payout with an entry of its own.
        """
        stake = dollars_to_cents(bet.bet_amount)
        result = pay_bet(verdict, stake, bet.odds)
        if bet.revision is not None and bet.verdict == result.verdict:
            return False
        revision, now = (bet.revision or 0) + 1, self.db.now()
        key = settle_key(bet.bet_id, revision)
        reversals = await self._reversals(bet, now)
        payment = LedgerEvent(
            key,
            "settle" if revision == 1 else "resettle",
            now,
            settlement_postings(stake, result, self._payout_account(bet, now)),
            correction=revision > 1,
        )
        events = (*reversals, payment)
        description = describe_result(
            "Benny\u2019s", bet.prediction, (bet.home_team, bet.away_team), result
        )
        event_record = self.events.create(
            "bets", "settled", description, f"/bets/games/{bet.game_id}"
        )

        def step(state: BookState) -> LedgerStep:
            postings = (posting for event in events for posting in event.postings)
            change = sum(posting.cents for posting in postings if posting.account == BANKROLL)
            after = state.head.balances.get(BANKROLL, 0) + change
            rows: list[Write] = [_settled_write(bet, result, closing, now), event_record.put()]
            if change:
                rows += [Bankroll.adjust(cents_to_dollars(change), now), self._history(after, now)]
            return LedgerStep(events, rows)

        done = await self.ledger.post(BENNY, key, step) == "posted"
        if done:
            self.events.publish(event_record)
        return done

    async def _reversals(self, bet: BennyBet, now: datetime) -> tuple[LedgerEvent, ...]:
        if bet.revision is None:
            return ()
        entry = await self.ledger.entry(BENNY, settle_key(bet.bet_id, bet.revision))
        if entry is None:
            return ()
        postings = replace_account(
            reverse_postings(entry.postings), BANKROLL, self._payout_account(bet, now)
        )
        key = f"reverse:{bet.bet_id}:{bet.revision}"
        return (LedgerEvent(key, "reverse", now, postings, correction=True),)

    def _payout_account(self, bet: BennyBet, now: datetime) -> str:
        """Return the account paid: the bankroll in the week of the bet, later the house."""
        return BANKROLL if bet.week is None or bet.week == week_start(now) else HOUSE

    def _history(self, cents: Cents, now: datetime) -> Write:
        return BankrollHistory(amount=cents_to_dollars(cents), updated_at=now).record()


def settle_key(bet_id: str, revision: int) -> str:
    return f"settle:{bet_id}:{revision}"


def _settled_write(bet: BennyBet, ending: Payout, closing: ClosingValue, now: datetime) -> Write:
    return bet.settle(
        now,
        ending.status,
        ending.verdict,
        payout=cents_to_dollars(ending.payout_cents),
        profit=cents_to_dollars(ending.profit_cents),
        closing=closing.fair,
        clv=closing.clv,
    )


@dataclass(frozen=True, slots=True)
class BennyBetView(GameRef):
    """A bet of Benny's, or a shadow bet with the rule that rejected it in `rejected_by`."""

    bet_id: str
    market_key: str
    prediction: str
    probability: Annotated[float, Field(serialization_alias="confidence")]
    price: Annotated[int, Field(serialization_alias="odds")]
    stake_cents: Annotated[MoneyCents, Field(serialization_alias="bet_amount")]
    placed_at: datetime
    status: str
    verdict: str | None
    payout_cents: Annotated[MoneyCents | None, Field(serialization_alias="payout")]
    profit_cents: Annotated[MoneyCents | None, Field(serialization_alias="profit")]
    settled_at: datetime | None
    reasoning: Annotated[str, Field(serialization_alias="ai_reasoning")]
    key_factors: Annotated[tuple[str, ...], Field(serialization_alias="ai_key_factors")]
    clv: float | None = None
    rejected_by: str | None = None
    model_id: Annotated[str, Field(exclude=True)] = ""


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """The result of the bets a rule rejected, at flat stakes; below zero the rule saved money."""

    rule: str
    rejected: int
    settled: int
    won: int
    profit_units: float
    roi: Interval | None


@dataclass(frozen=True, slots=True)
class BennyLearning:
    """The parameters Benny has learned from settled bets."""

    threshold: float
    adjustment: float
    kelly_fraction: float
    win_rate: float | None
    bets: int
    updated_at: datetime | None


@dataclass(frozen=True, slots=True)
class BennyDashboard:
    """Benny's public dashboard. All money is virtual; rates and returns are fractions."""

    bankroll_cents: Annotated[MoneyCents, Field(serialization_alias="current_bankroll")]
    open_stakes_cents: Annotated[MoneyCents, Field(serialization_alias="open_stakes")]
    weekly_budget_cents: Annotated[MoneyCents, Field(serialization_alias="weekly_budget")]
    week_began: datetime
    bets: Annotated[int, Field(serialization_alias="total_bets")]
    pending: Annotated[int, Field(serialization_alias="pending_bets")]
    win_rate: Annotated[Interval | None, Field(serialization_alias="win_rate_interval")]
    roi: Annotated[Interval | None, Field(serialization_alias="roi_interval")]
    clv: Interval | None
    profit_cents: Annotated[MoneyCents, Field(serialization_alias="profit")]
    by_sport: Annotated[tuple[BetRecord, ...], Field(serialization_alias="sports_performance")]
    by_bet_type: Annotated[tuple[BetRecord, ...], Field(serialization_alias="bet_type_performance")]
    calibration: Annotated[
        tuple[CalibrationBin, ...], Field(serialization_alias="confidence_accuracy")
    ]
    learning: BennyLearning
    curve: Annotated[tuple[BalancePoint, ...], Field(serialization_alias="bankroll_history")]
    open_bets: Annotated[tuple[BennyBetView, ...], Field(exclude=True)]
    settled_bets: Annotated[tuple[BennyBetView, ...], Field(exclude=True)]
    best: Annotated[BennyBetView | None, Field(serialization_alias="best_bet")]
    worst: Annotated[BennyBetView | None, Field(serialization_alias="worst_bet")]
    rules: tuple[RuleEffect, ...]

    @computed_field(alias="win_rate")
    def win_rate_value(self) -> float | None:
        return interval_value(self.win_rate)

    @computed_field(alias="roi")
    def roi_value(self) -> float | None:
        return interval_value(self.roi)

    @computed_field
    def recent_bets(self) -> tuple[BennyBetView, ...]:
        return (*self.open_bets, *self.settled_bets)


@dataclass(frozen=True, slots=True, kw_only=True)
class BennyService:
    db: Database
    settings: BetsSettings
    bankroll: BennyBankroll

    async def dashboard(self) -> BennyDashboard:
        bets = [bet async for bet in self.db.each(BennyBet.history())]
        views = [bet_view(bet) for bet in bets]
        settled = [view for view in views if view.status != "pending"]
        decided = [bet for bet in settled if bet.status in {"won", "lost"}]
        money = [_money(bet) for bet in settled]
        won = [prediction.status == "won" for prediction in decided]
        return BennyDashboard(
            bankroll_cents=await self.bankroll.bankroll(),
            open_stakes_cents=await self.bankroll.open_stakes(),
            weekly_budget_cents=self.settings.benny_budget_cents,
            week_began=week_start(self.db.now()),
            bets=len(views),
            pending=len(views) - len(settled),
            win_rate=rate_interval(sum(won), len(won)),
            roi=roi_interval(money),
            clv=mean_interval([view.clv for view in views if view.clv is not None]),
            profit_cents=sum(profit for _, profit in money),
            by_sport=summarize_by_kind((bet.sport, *_money(bet)) for bet in settled),
            by_bet_type=summarize_by_kind((bet.market_key, *_money(bet)) for bet in settled),
            calibration=calibration_bins([prediction.probability for prediction in decided], won),
            learning=await self._learning(),
            curve=await self._curve(),
            open_bets=tuple(view for view in views if view.status == "pending"),
            settled_bets=tuple(settled[:20]),
            best=max(settled, key=lambda bet: bet.profit_cents or 0, default=None),
            worst=min(settled, key=lambda bet: bet.profit_cents or 0, default=None),
            rules=await self.rules(),
        )

    async def bets(self, *, limit: int = 20, after: str | None = None) -> Page[BennyBetView]:
        """Return Benny's bets, newest first."""
        page = await self.db.store.page(BennyBet.history(), limit, after=after)
        return Page(tuple(bet_view(item) for item in page.items), page.cursor)

    async def shadow_bets(
        self, *, rule: str | None = None, limit: int = 20, after: str | None = None
    ) -> Page[BennyBetView]:
        """Return the bets Benny's rules rejected, newest first."""
        query = ShadowBet.recent()
        if rule is not None:
            query = query.where(ShadowBet.rule == rule)
        page = await self.db.store.page(query, limit, after=after)
        return Page(tuple(shadow_bet_view(item) for item in page.items), page.cursor)

    async def rules(self) -> tuple[RuleEffect, ...]:
        """Return the effect of each rule over the last 180 days."""
        since = self.db.now() - timedelta(days=180)
        rejected: dict[str, list[ShadowBet]] = defaultdict(list)
        async for bet in self.db.each(ShadowBet.since(since)):
            rejected[bet.rule].append(bet)
        return tuple(rule_value(rule, bets) for rule, bets in sorted(rejected.items()))

    async def _learning(self) -> BennyLearning:
        stored = await self.db.store(Learning.current())
        base, kelly = self.settings.benny_threshold, self.settings.benny_kelly
        if stored is None:
            return BennyLearning(base, 0.0, kelly, None, 0, None)
        adjustment = float(stored.min_confidence_adjustment)
        return BennyLearning(
            base + adjustment,
            adjustment,
            float(stored.kelly_fraction),
            float(stored.overall_win_rate) if stored.total_bets_analyzed else None,
            stored.total_bets_analyzed,
            stored.last_updated,
        )

    async def _curve(self) -> tuple[BalancePoint, ...]:
        since = self.db.now() - timedelta(days=180)
        points = self.db.each(BankrollHistory.since(since))
        return tuple(
            [
                BalancePoint(point.updated_at, dollars_to_cents(point.amount))
                async for point in points
            ]
        )


def rule_value(rule: str, bets: Sequence[ShadowBet]) -> RuleEffect:
    settled = [bet for bet in bets if bet.profit_units is not None]
    units = [float(bet.profit_units or 0) for bet in settled]
    return RuleEffect(
        rule,
        len(bets),
        len(settled),
        sum(profit > 0 for profit in units),
        sum(units),
        roi_interval([(1.0, profit) for profit in units]),
    )


def bet_view(bet: BennyBet) -> BennyBetView:
    return copy_as(
        BennyBetView,
        bet,
        probability=float(bet.confidence),
        price=bet.odds,
        stake_cents=dollars_to_cents(bet.bet_amount),
        payout_cents=None if bet.payout is None else dollars_to_cents(bet.payout),
        profit_cents=None if bet.profit is None else dollars_to_cents(bet.profit),
        reasoning=bet.ai_reasoning,
        key_factors=bet.ai_key_factors,
        clv=None if bet.clv is None else float(bet.clv),
        model_id=bet.model_id or "",
    )


def shadow_bet_view(bet: ShadowBet) -> BennyBetView:
    """Return a shadow bet as if one dollar had been staked."""
    stake = 100
    profit = None if bet.profit_units is None else round(float(bet.profit_units) * stake)
    return copy_as(
        BennyBetView,
        bet,
        bet_id=f"SHADOW#{bet.placed_at.isoformat()}#{bet.game_id}#{bet.market_key}",
        probability=float(bet.confidence),
        price=bet.odds,
        stake_cents=stake,
        status="pending" if bet.verdict is None else bet.verdict,
        payout_cents=None if profit is None else stake + profit,
        profit_cents=profit,
        reasoning=bet.reason,
        key_factors=(),
        rejected_by=bet.rule,
    )


def _money(bet: BennyBetView) -> tuple[int, int]:
    return bet.stake_cents, bet.profit_cents or 0
