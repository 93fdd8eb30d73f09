"""Double-entry ledger, its entries chained by digest, and the limits on stakes and losses."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final, TypeAlias

from grandstand.core.errors import Broken, Conflict, LimitReached

Cents: TypeAlias = int

BENNY: Final = "benny"
HOUSE: Final = "house"
BANKROLL: Final = "bankroll"
STAKES: Final = "stakes"
BOOKMAKER: Final = "bookmaker"
PURSE: Final = "purse"
GENESIS: Final = "0" * 64

# Only accounts outside the book may be negative: the budget, the bookmakers and a person's own
# money. A bankroll becomes negative only by a corrected result.
_MAY_BE_NEGATIVE: Final = frozenset({HOUSE, BOOKMAKER, PURSE})
_CENTS_PER_DOLLAR: Final = 100


class UnbalancedEntry(Broken):
    """The postings of an entry do not add up to zero."""

    code = "unbalanced-entry"


class AccountOverdrawn(Conflict):
    """An account does not hold what an entry takes from it."""

    code = "account-overdrawn"


@dataclass(frozen=True, slots=True)
class Posting:
    """A change of one account's balance."""

    account: str
    cents: Cents


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """An entry of a book; `key` names the event, which is entered once.

    `digest` covers all fields and the previous entry's digest.
    """

    book: str
    seq: int
    key: str
    kind: str
    at: datetime
    postings: tuple[Posting, ...]
    previous: str
    digest: str


@dataclass(frozen=True, slots=True)
class LedgerState:
    """The last entry of a book and every account's balance."""

    book: str
    seq: int = 0
    digest: str = GENESIS
    balances: Mapping[str, Cents] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LedgerEvent:
    """What is to be entered.

    A correction may overdraw any account.
    """

    key: str
    kind: str
    at: datetime
    postings: tuple[Posting, ...]
    correction: bool = False


def transfer(source: str, target: str, cents: Cents) -> tuple[Posting, ...]:
    """Return the postings that move money, none for zero."""
    if cents == 0:
        return ()
    return (Posting(source, -cents), Posting(target, cents))


def append_event(head: LedgerState, event: LedgerEvent) -> tuple[LedgerLine, LedgerState]:
    """Return the entry of an event and the state after it.

    Raises UnbalancedEntry, and AccountOverdrawn if an account would become negative.
    """
    postings = _merge_postings(event.postings)
    if sum(posting.cents for posting in postings):
        raise UnbalancedEntry(
            f"{event.key} is unbalanced by {sum(posting.cents for posting in postings)} cents"
        )
    balances = dict(head.balances)
    for posting in postings:
        after = balances.get(posting.account, 0) + posting.cents
        overdrawn = after < 0 and posting.cents < 0 and posting.account not in _MAY_BE_NEGATIVE
        if overdrawn and not event.correction:
            balance = balances.get(posting.account, 0)
            raise AccountOverdrawn(
                f"{posting.account} of {head.book} holds {balance} cents,"
                f" {-posting.cents} are required."
            )
        balances[posting.account] = after
    seq = head.seq + 1
    digest = _digest(head, seq, event, postings)
    entry = LedgerLine(
        head.book, seq, event.key, event.kind, event.at, postings, head.digest, digest
    )
    return entry, LedgerState(head.book, seq, digest, balances)


def reverse_postings(postings: Iterable[Posting]) -> tuple[Posting, ...]:
    return tuple(Posting(posting.account, -posting.cents) for posting in postings)


def replace_account(postings: Iterable[Posting], source: str, target: str) -> tuple[Posting, ...]:
    """Return the same postings with one account in place of another."""
    return tuple(
        Posting(target if posting.account == source else posting.account, posting.cents)
        for posting in postings
    )


class LedgerReplay:
    """Recomputes a book from its entries and collects whatever is wrong."""

    def __init__(self, book: str) -> None:
        self.head = LedgerState(book)
        self.faults: list[str] = []
        self._keys: set[str] = set()

    def check(self, entry: LedgerLine) -> None:
        """Check the next entry."""
        where = f"entry {entry.seq} ({entry.key})"
        if entry.seq != self.head.seq + 1:
            self.faults.append(f"{where} follows entry {self.head.seq}")
        if entry.key in self._keys:
            self.faults.append(f"{where} repeats an event")
        self._keys.add(entry.key)
        event = LedgerEvent(entry.key, entry.kind, entry.at, entry.postings, correction=True)
        try:
            before = LedgerState(entry.book, entry.seq - 1, self.head.digest, self.head.balances)
            expected, head = append_event(before, event)
        except UnbalancedEntry as fault:
            self.faults.append(f"{where}: {fault}")
            return
        if (expected.digest, expected.previous) != (entry.digest, entry.previous):
            self.faults.append(f"{where} does not match its digest")
        self.head = head

    def finish(self, stored: LedgerState) -> tuple[str, ...]:
        """Compare the result with the stored state and return all faults."""
        faults = list(self.faults)
        if (self.head.seq, self.head.digest) != (stored.seq, stored.digest):
            faults.append(
                f"the stored state is at entry {stored.seq}, the entries end at {self.head.seq}"
            )
        for account in sorted({*self.head.balances, *stored.balances}):
            ours, theirs = self.head.balances.get(account, 0), stored.balances.get(account, 0)
            if ours != theirs:
                faults.append(f"{account} holds {theirs} cents, its entries add up to {ours}")
        if sum(self.head.balances.values()):
            faults.append(
                f"all accounts add up to {sum(self.head.balances.values())} cents instead of 0"
            )
        return tuple(faults)


def week_start(instant: datetime) -> datetime:
    """Return the Monday 00:00 UTC of a time's week."""
    day = instant - timedelta(days=instant.weekday())
    return day.replace(hour=0, minute=0, second=0, microsecond=0)


def cents_to_dollars(cents: Cents) -> Decimal:
    """Return cents as exact dollars, as the table stores them."""
    return Decimal(cents) / _CENTS_PER_DOLLAR


def dollars_to_cents(amount: Decimal) -> Cents:
    """Return exact dollars as cents.

    Raises UnbalancedEntry for fractions of a cent.
    """
    cents = amount * _CENTS_PER_DOLLAR
    if cents != int(cents):
        raise UnbalancedEntry(f"{amount} dollars is not a whole number of cents")
    return int(cents)


def _merge_postings(postings: Sequence[Posting]) -> tuple[Posting, ...]:
    """Return one posting per account, sorted by account, without zeros."""
    sums: dict[str, Cents] = {}
    for posting in postings:
        sums[posting.account] = sums.get(posting.account, 0) + posting.cents
    return tuple(Posting(account, sums[account]) for account in sorted(sums) if sums[account])


def _digest(head: LedgerState, seq: int, event: LedgerEvent, postings: Sequence[Posting]) -> str:
    movements = ";".join(f"{posting.account}={posting.cents}" for posting in postings)
    parts = (
        head.digest,
        head.book,
        str(seq),
        event.key,
        event.kind,
        event.at.isoformat(),
        movements,
    )
    # No part contains the ASCII unit separator, so the encoding is unambiguous.
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


LOOSENING_DELAY: Final = timedelta(days=1)


class StakeLimitReached(LimitReached):
    """A stake exceeds the person's limit per bet or day."""

    code = "stake-limit-reached"
    retry = False


class LossLimitReached(LimitReached):
    """The bet could exceed the person's loss limit of the week."""

    code = "loss-limit-reached"
    retry = False


class TimeOutActive(LimitReached):
    """The person has taken a time out from betting."""

    code = "time-out-active"
    retry = False


@dataclass(frozen=True, slots=True)
class BetLimits:
    """The three limits in cents; None is no limit."""

    stake_per_bet: Cents | None = None
    stake_per_day: Cents | None = None
    loss_per_week: Cents | None = None


@dataclass(frozen=True, slots=True)
class LimitState:
    """The limits in force, and looser ones that take effect at `loosens_at`."""

    limits: BetLimits = BetLimits()
    wanted: BetLimits | None = None
    loosens_at: datetime | None = None
    time_out_until: datetime | None = None

    def at(self, now: datetime) -> BetLimits:
        """Return the limits in force at a time."""
        if self.wanted is not None and self.loosens_at is not None and now >= self.loosens_at:
            return self.wanted
        return self.limits


@dataclass(frozen=True, slots=True)
class Usage:
    """Stakes of a day and profit of a week."""

    day: date
    staked: Cents
    week: date
    profit: Cents

    @property
    def lost(self) -> Cents:
        """The net loss of the week's settled bets."""
        return max(0, -self.profit)


def usage_at(stored: Usage | None, now: datetime) -> Usage:
    """Return the usage now, reset on a new day or week."""
    day, week = now.date(), week_start(now).date()
    if stored is None:
        return Usage(day, 0, week, 0)
    return Usage(
        day,
        stored.staked if stored.day == day else 0,
        week,
        stored.profit if stored.week == week else 0,
    )


def add_stake(stored: Usage | None, stake: Cents, now: datetime) -> Usage:
    usage = usage_at(stored, now)
    return replace(usage, staked=usage.staked + stake)


def add_profit(stored: Usage | None, profit: Cents, now: datetime) -> Usage:
    usage = usage_at(stored, now)
    return replace(usage, profit=usage.profit + profit)


def check_stake(
    state: LimitState, usage: Usage, open_stakes: Cents, stake: Cents, now: datetime
) -> None:
    """Check a stake against the limits; open stakes count as lost.

    Raises StakeLimitReached, LossLimitReached or TimeOutActive.
    """
    until = state.time_out_until
    if until is not None and now < until:
        raise TimeOutActive(
            f"Time out until {until:%Y-%m-%d %H:%M} UTC. No bets can be placed before."
        )
    limits = state.at(now)
    amount = _dollars(stake)
    if limits.stake_per_bet is not None and stake > limits.stake_per_bet:
        per_bet = _dollars(limits.stake_per_bet)
        raise StakeLimitReached(f"Stake {amount} exceeds your limit of {per_bet} per bet.")
    if limits.stake_per_day is not None and usage.staked + stake > limits.stake_per_day:
        per_day, left = limits.stake_per_day, max(0, limits.stake_per_day - usage.staked)
        raise StakeLimitReached(
            f"Stake {amount} exceeds your limit of {_dollars(per_day)} per day;"
            f" {_dollars(left)} is left."
        )
    if limits.loss_per_week is not None and (
        usage.lost + open_stakes + stake > limits.loss_per_week
    ):
        raise LossLimitReached(
            f"Stake {amount} could exceed your loss limit of {_dollars(limits.loss_per_week)}"
            f" per week: {_dollars(usage.lost)} lost, {_dollars(open_stakes)} open."
        )


def change_limits(state: LimitState, wanted: BetLimits, now: datetime) -> LimitState:
    """Return the limits after a change: tighter ones apply at once, looser ones a day later."""
    current = state.at(now)
    tightened = BetLimits(
        _tighter(current.stake_per_bet, wanted.stake_per_bet),
        _tighter(current.stake_per_day, wanted.stake_per_day),
        _tighter(current.loss_per_week, wanted.loss_per_week),
    )
    if tightened == wanted:
        return replace(state, limits=wanted, wanted=None, loosens_at=None)
    return replace(state, limits=tightened, wanted=wanted, loosens_at=now + LOOSENING_DELAY)


def extend_time_out(state: LimitState, until: datetime) -> LimitState:
    """Return the limits with a time out; a running one is never shortened."""
    stored = state.time_out_until
    return replace(state, time_out_until=until if stored is None else max(stored, until))


def _tighter(current: Cents | None, wanted: Cents | None) -> Cents | None:
    limits = [limit for limit in (current, wanted) if limit is not None]
    return min(limits) if limits else None


def _dollars(cents: Cents) -> str:
    return f"${cents // 100}.{cents % 100:02d}"
