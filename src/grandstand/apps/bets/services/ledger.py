"""The double-entry ledger, posted exactly once, and the limits that users set for themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import datetime
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from grandstand.apps.bets.domain.ledger import (
    BANKROLL,
    BENNY,
    STAKES,
    BetLimits,
    Cents,
    LedgerEvent,
    LedgerLine,
    LedgerReplay,
    LedgerState,
    LimitState,
    Usage,
    append_event,
    change_limits,
    check_stake,
    dollars_to_cents,
    extend_time_out,
    usage_at,
)
from grandstand.apps.bets.services.database import Database, MoneyCents, copy_as
from grandstand.apps.bets.store.benny import Bankroll
from grandstand.apps.bets.store.wagers import (
    BettingLimits,
    LedgerBook,
    LedgerEntry,
    LedgerHead,
    LedgerMark,
)
from grandstand.core.errors import Conflict, GrandstandError, InvalidInput
from grandstand.kit.auth.caller import Caller
from grandstand.storage.tables import Put
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.operations.item_ops import Write

_MAX_ATTEMPTS: Final = 32
_BACKOFF_SECONDS: Final = 0.05

PostStatus: TypeAlias = Literal["posted", "duplicate", "rejected"]


class LedgerBusy(Conflict):
    """The book changes too often to post an event."""

    code = "ledger-busy"

    retry = True


@dataclass(frozen=True, slots=True)
class LedgerVerification:
    """A recomputed book: the number of entries, balances by account, and errors."""

    book: str
    entries: int
    balances: dict[str, int]
    faults: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether all balances and links are correct."""
        return not self.faults


@dataclass(frozen=True, slots=True)
class BookState:
    """The head of a book and the usage that counts for the owner's limits."""

    head: LedgerState
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class LedgerStep:
    """The events of one posting, the writes that belong to them, and the new usage."""

    events: Sequence[LedgerEvent]
    writes: Sequence[Write] = ()
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class LedgerService:
    """Posts events with everything they change in one transaction, and verifies books."""

    db: Database

    async def state(self, book: str) -> BookState:
        """Return the current state of a book, read consistently."""
        head = await self.db.store(LedgerHead.of_book(book))
        return BookState(LedgerState(book)) if head is None else to_book_state(head)

    async def is_posted(self, book: str, event: str) -> bool:
        """Return whether an event is posted."""
        return await self.db.store(LedgerMark.of_event(book, event)) is not None

    async def entry(self, book: str, event: str) -> LedgerLine | None:
        """Return the entry of an event; None if it is not posted."""
        mark = await self.db.store(LedgerMark.of_event(book, event))
        if mark is None:
            return None
        row = await self.db.store(LedgerEntry.by_place(book, f"{mark.seq:012d}"))
        return None if row is None else copy_as(LedgerLine, row, key=row.event)

    async def post(
        self, book: str, key: str, step: Callable[[BookState], LedgerStep | None]
    ) -> PostStatus:
        """Post an event with its writes, all or nothing.

        `step` derives the posting from the state of the book and is called again if the book has
        changed meanwhile; None rejects it. Returns "duplicate" if the event was posted before and
        "rejected" if a condition of its writes does not hold. Raises the errors of `step`, and
        LedgerBusy.
        """
        for attempt in range(_MAX_ATTEMPTS):
            state = await self.state(book)
            try:
                next_step = step(state)
                writes = () if next_step is None else self._writes(state, next_step)
            except GrandstandError:
                # The event itself may have taken what it needs, before a crash.
                if await self.is_posted(book, key):
                    return "duplicate"
                raise
            if not writes:
                return "rejected"
            if await self.db.try_transaction(*writes):
                return "posted"
            if await self.is_posted(book, key):
                return "duplicate"
            if (await self.state(book)).head.seq == state.head.seq:
                return "rejected"
            await self.db.sleep(self.db.random.uniform(0, _BACKOFF_SECONDS * (attempt + 1)))
        raise LedgerBusy(f"Book {book!r} changes too often to post {key!r}. Try again.")

    def _writes(self, state: BookState, step: LedgerStep) -> Sequence[Write]:
        head, lines = state.head, list[Write]()
        for event in step.events:
            entry, head = append_event(head, event)
            mark = LedgerMark(book=entry.book, event=entry.key, seq=entry.seq)
            lines += [copy_as(LedgerEntry, entry, event=entry.key).append(), mark.set_once()]
        usage = step.usage or state.usage
        new_head = LedgerHead(
            book=head.book,
            seq=head.seq,
            digest=head.digest,
            balances=dict(head.balances),
            day=None if usage is None else usage.day,
            staked_cents=0 if usage is None else usage.staked,
            week=None if usage is None else usage.week,
            profit_cents=0 if usage is None else usage.profit,
        )
        first = [] if state.head.seq else [LedgerBook(book=head.book).save()]
        return [new_head.advance(state.head.seq), *lines, *first, *step.writes]

    async def verify(self, book: str = BENNY) -> LedgerVerification:
        """Recompute a book from its first entry. Benny's bankroll must match his book."""
        replay, count = LedgerReplay(book), 0
        async for row in self.db.each(LedgerEntry.of_book(book)):
            replay.check(copy_as(LedgerLine, row, key=row.event))
            count += 1
        state = await self.state(book)
        faults = replay.finish(state.head)
        if book == BENNY:
            stored = await self.db.store(Bankroll.current())
            bankroll = 0 if stored is None else dollars_to_cents(stored.amount)
            balance = state.head.balances.get(BANKROLL, 0)
            if bankroll != balance:
                faults += (f"the bankroll is {bankroll} cents, the book says {balance}",)
        return LedgerVerification(book, count, dict(replay.head.balances), faults)

    async def verify_all(self) -> AsyncIterator[LedgerVerification]:
        """Verify every book."""
        async for row in self.db.store.each(LedgerBook.all_books()):
            yield await self.verify(row.book)


def to_book_state(head: LedgerHead) -> BookState:
    state = LedgerState(head.book, head.seq, head.digest, dict(head.balances))
    if head.day is None or head.week is None:
        return BookState(state)
    return BookState(state, Usage(head.day, head.staked_cents, head.week, head.profit_cents))


_LIMIT_ATTEMPTS: Final = 5


@dataclass(frozen=True, slots=True)
class LimitsView:
    """A user's limits and how much of them is used; None is no limit.

    Tighter limits apply immediately, looser ones after a day (`loosens_at`).
    """

    stake_per_bet_cents: Annotated[MoneyCents | None, Field(serialization_alias="stake_per_bet")]
    stake_per_day_cents: Annotated[MoneyCents | None, Field(serialization_alias="stake_per_day")]
    loss_per_week_cents: Annotated[MoneyCents | None, Field(serialization_alias="loss_per_week")]
    time_out_until: datetime | None
    staked_today_cents: Annotated[MoneyCents, Field(serialization_alias="staked_today")]
    lost_this_week_cents: Annotated[MoneyCents, Field(serialization_alias="lost_this_week")]
    loosens_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitService:
    """A user's limits. A bet is recorded only if they have not changed since they were read."""

    db: Database
    ledger: LedgerService

    async def load(self, user_id: str) -> BettingLimits:
        return await self.db.store(BettingLimits.of_user(user_id)) or BettingLimits(user_id=user_id)

    async def get(self, caller: Caller) -> LimitsView:
        """Return the caller's limits and their usage."""
        now, state = self.db.now(), to_limit_state(await self.load(caller.user_id))
        bounds, loosens, until = state.at(now), state.loosens_at, state.time_out_until
        usage = usage_at((await self.ledger.state(user_book(caller.user_id))).usage, now)
        return LimitsView(
            bounds.stake_per_bet,
            bounds.stake_per_day,
            bounds.loss_per_week,
            until if until is not None and until > now else None,
            usage.staked,
            usage.lost,
            loosens if loosens is not None and loosens > now else None,
        )

    async def update(self, caller: Caller, limits: BetLimits) -> LimitsView:
        """Change the caller's limits.

        Raises InvalidInput if a limit is negative.
        """
        for value in astuple(limits):
            if value is not None and value < 0:
                raise InvalidInput(f"Invalid limit: {value} cents. Use 0 or more.")
        now = self.db.now()
        await self._save(caller.user_id, lambda state: change_limits(state, limits, now))
        return await self.get(caller)

    async def time_out(self, caller: Caller, until: datetime) -> LimitsView:
        """Block new bets until a time. A time-out can be extended but not shortened.

        Raises InvalidInput if the time is in the past.
        """
        if until <= self.db.now():
            raise InvalidInput("The time-out must end in the future.")
        await self._save(caller.user_id, lambda state: extend_time_out(state, until))
        return await self.get(caller)

    async def _save(self, user_id: str, change: Callable[[LimitState], LimitState]) -> None:
        for _ in range(_LIMIT_ATTEMPTS):
            stored = await self.load(user_id)
            try:
                await self.db.store(_row(stored, change(to_limit_state(stored))).save())
            except ConditionFailed:
                continue
            return
        raise InvalidInput("The limits were changed at the same time. Try again.")

    def check_stake(
        self, stored: BettingLimits, state: BookState, stake: Cents, now: datetime
    ) -> None:
        """Raise StakeLimitReached, LossLimitReached or TimeOutActive if a limit forbids it."""
        usage = usage_at(state.usage, now)
        check_stake(to_limit_state(stored), usage, state.head.balances.get(STAKES, 0), stake, now)

    def unchanged_write(self, stored: BettingLimits) -> Put[BettingLimits] | None:
        """Return the write that fails if the limits change meanwhile; None without limits."""
        return None if stored.written == 0 else stored.save()


def user_book(user_id: str) -> str:
    """Return the name of a user's book."""
    return f"user:{user_id}"


def to_limit_state(stored: BettingLimits) -> LimitState:
    requested = None
    if stored.wanted is not None:
        requested = BetLimits(**stored.wanted)
    return LimitState(
        BetLimits(
            stored.stake_per_bet_cents, stored.stake_per_day_cents, stored.loss_per_week_cents
        ),
        requested,
        stored.loosens_at,
        stored.time_out_until,
    )


def _row(stored: BettingLimits, state: LimitState) -> BettingLimits:
    bounds, requested = state.limits, state.wanted
    return stored.replace(
        stake_per_bet_cents=bounds.stake_per_bet,
        stake_per_day_cents=bounds.stake_per_day,
        loss_per_week_cents=bounds.loss_per_week,
        wanted=None
        if requested is None
        else {name: value for name, value in asdict(requested).items() if value is not None},
        loosens_at=state.loosens_at,
        time_out_until=state.time_out_until,
    )
