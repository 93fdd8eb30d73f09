"""Benny's money with crashes between any two writes: `python -m tests.apps.bets.soak`.

Without arguments a million events are gone through; give another number and a seed to vary it.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from grandstand.apps.bets.domain.ledger import BENNY, AccountOverdrawn, dollars_to_cents, week_start
from grandstand.apps.bets.domain.settlement import BY_QUARTERS, VOID
from grandstand.apps.bets.services.benny import BennyBankroll
from grandstand.apps.bets.services.ledger import LedgerService, LedgerVerification
from grandstand.apps.bets.services.settlement import ClosingValue
from grandstand.apps.bets.store.benny import BennyBet
from grandstand.core.clock import ManualClock
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.bets.stage import ALL_TABLES, staged

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
VERDICTS = (*BY_QUARTERS, VOID)
_WRITES = frozenset({"put", "update", "delete", "batch_write", "transact_write"})


class Crash(Exception):
    """The process is gone: before a write, or after it and before anybody heard."""


class CrashingEngine:
    """An engine that dies before or after the n-th write from now, then is as new."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.left: int | None = None
        self.after = False
        self.crashes = 0

    def arm(self, writes: int, *, after: bool) -> None:
        """Die at the n-th write from now."""
        self.left, self.after = writes, after

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._engine, name)
        return self._deadly(found) if name in _WRITES else found

    def _deadly(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def carried_out(*given: Any, **options: Any) -> Any:
            if self.left is None:
                return write(*given, **options)
            self.left -= 1
            if self.left >= 0:
                return write(*given, **options)
            self.left = None
            self.crashes += 1
            if self.after:
                write(*given, **options)
            raise Crash

        return carried_out


@dataclass
class Course:
    """What is true however often it crashed: the bets that were placed, and how they ended."""

    clock: ManualClock
    random: Random
    engine: CrashingEngine
    book: BennyBankroll
    ledgers: LedgerService
    store: AsyncStore
    open_bets: list[BennyBet] = field(default_factory=list)
    settled: list[BennyBet] = field(default_factory=list)
    events: int = 0
    week: datetime | None = None

    async def run(self, events: int, crash_every: int = 7) -> LedgerVerification:
        """Go through so many events; every few of them the process dies and tries again."""
        while self.events < events:
            self.events += 1
            act = self.random.choices(
                (self._place, self._settle, self._correct, self._rest), (10, 8, 2, 1)
            )[0]
            if self.events % crash_every == 0:
                self.engine.arm(self.random.randrange(2), after=self.random.random() < 0.5)
            await self._insist(act())
        self.engine.left = None
        return await self.ledgers.verify(BENNY)

    async def _insist(self, act: Callable[[], Any]) -> None:
        """Do something until it is done, whatever dies meanwhile."""
        while True:
            try:
                await act()
            except Crash:
                continue
            return

    def _rest(self) -> Callable[[], Any]:
        self.clock.advance(self.random.uniform(0, 86_400 * 2))

        async def week() -> None:
            await self.book.begin_week()

        return week

    def _place(self) -> Callable[[], Any]:
        self.clock.advance(self.random.randrange(1, 600))
        bet = bet_at(self.clock.now().replace(microsecond=0), self.events, self.random)

        async def place() -> None:
            if self.week != week_start(self.clock.now()):
                await self.book.begin_week()
                self.week = week_start(self.clock.now())
            try:
                posted = await self.book.place(bet, dollars_to_cents(bet.bet_amount))
            except AccountOverdrawn:
                return
            if posted in {"posted", "duplicate"}:
                self.open_bets.append(bet)

        return place

    def _settle(self) -> Callable[[], Any]:
        if not self.open_bets:
            return self._rest()
        bet = self.open_bets.pop(self.random.randrange(len(self.open_bets)))
        verdict = self.random.choice(VERDICTS)

        async def settle() -> None:
            kept = await self.store.read(BennyBet.by_key(bet.placed_at, bet.game_id))
            if kept.revision is None:
                await self.book.settle(kept, verdict, ClosingValue(Decimal("0.5"), Decimal("0.01")))

        self.settled.append(bet)
        return settle

    def _correct(self) -> Callable[[], Any]:
        if not self.settled:
            return self._rest()
        bet = self.random.choice(self.settled[-50:])
        verdict = self.random.choice(VERDICTS)

        async def correct() -> None:
            kept = await self.store.read(BennyBet.by_key(bet.placed_at, bet.game_id))
            await self.book.settle(kept, verdict, ClosingValue())

        return correct


def bet_at(moment: datetime, number: int, random: Random) -> BennyBet:
    """A bet of some dollars and cents."""
    price = random.choice((-1, 1)) * random.randrange(100, 400)
    return BennyBet(
        bet_id=f"BET#{moment:%Y-%m-%dT%H:%M:%SZ}#g{number}",
        game_id=f"g{number}",
        sport="basketball_nba",
        home_team="Home",
        away_team="Away",
        prediction="Home",
        confidence=Decimal("0.6"),
        ai_reasoning="Chance",
        ai_key_factors=(),
        bet_amount=Decimal(random.randrange(100, 1500)) / 100,
        odds=price,
        market_key="h2h",
        commence_time=moment + timedelta(hours=3),
        placed_at=moment,
        bankroll_before=Decimal(0),
        selection="h2h|home||||",
    )


def course(seed: int) -> tuple[Course, Store]:
    """A course of its own on a store in memory."""
    clock = ManualClock(MONDAY)
    engine = CrashingEngine(SqliteEngine.open(None, clock=clock))
    store = Store(engine, naming=Naming(), clock=clock)
    store.create(ALL_TABLES)
    stage = staged(store, clock, seed=seed)
    ledgers, book = stage.bets.ledger, stage.bankroll()
    return (
        Course(clock, Random(seed), engine, book, ledgers, stage.db.store),
        store,
    )


def main(events: int = 1_000_000, seed: int = 1) -> int:
    """Go through the events and say whether every balance holds."""
    made, store = course(seed)
    with closing(store):
        proof = asyncio.run(made.run(events))
    said = "sound" if proof.sound else "; ".join(proof.faults)
    print(f"{events} events, {made.engine.crashes} crashes, {proof.entries} entries: {said}")  # noqa: T201
    return 0 if proof.sound else 1


if __name__ == "__main__":
    sys.exit(main(*(int(each) for each in sys.argv[1:])))
