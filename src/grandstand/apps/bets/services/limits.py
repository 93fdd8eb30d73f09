"""Betting limits that users set for themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from grandstand.apps.bets.domain.ledger import STAKES, Cents
from grandstand.apps.bets.domain.limits import (
    BetLimits,
    LimitState,
    change_limits,
    check_stake,
    extend_time_out,
    usage_at,
)
from grandstand.apps.bets.services.database import Database, MoneyCents
from grandstand.apps.bets.services.ledger import BookState, LedgerService
from grandstand.apps.bets.store.wagers import BettingLimits
from grandstand.core.errors import InvalidInput
from grandstand.kit.auth.caller import Caller
from grandstand.storage.tables import Put
from grandstand.storage.tables.errors import ConditionFailed

_MAX_ATTEMPTS: Final = 5
_LIMIT_NAMES: Final = ("stake_per_bet", "stake_per_day", "loss_per_week")


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


@dataclass(frozen=True, slots=True)
class LimitsRequest:
    """The requested limits; None removes a limit."""

    stake_per_bet_cents: int | None = None
    stake_per_day_cents: int | None = None
    loss_per_week_cents: int | None = None


class LimitService:
    """A user's limits. A bet is recorded only if they have not changed since they were read."""

    def __init__(self, *, db: Database, ledger: LedgerService) -> None:
        self._db = db
        self._ledger = ledger

    async def load(self, user_id: str) -> BettingLimits:
        return await self._db.store(BettingLimits.of_user(user_id)) or BettingLimits(
            user_id=user_id
        )

    async def get(self, caller: Caller) -> LimitsView:
        """Return the caller's limits and their usage."""
        now, stored = self._db.now(), await self.load(caller.user_id)
        allowed = to_allowance(stored)
        bounds = allowed.at(now)
        usage = usage_at((await self._ledger.state(user_book(caller.user_id))).usage, now)
        loosens = allowed.loosens_at
        until = allowed.time_out_until
        return LimitsView(
            bounds.stake_per_bet,
            bounds.stake_per_day,
            bounds.loss_per_week,
            until if until is not None and until > now else None,
            usage.staked,
            usage.lost,
            loosens if loosens is not None and loosens > now else None,
        )

    async def update(self, caller: Caller, request: LimitsRequest) -> LimitsView:
        """Change the caller's limits.

        Raises InvalidInput if a limit is negative.
        """
        requested = BetLimits(
            request.stake_per_bet_cents, request.stake_per_day_cents, request.loss_per_week_cents
        )
        for name in _LIMIT_NAMES:
            value = getattr(requested, name)
            if value is not None and value < 0:
                message = f"Invalid limit: {value} cents. Use 0 or more."
                raise InvalidInput(message)
        now = self._db.now()
        await self._save(caller.user_id, lambda allowed: change_limits(allowed, requested, now))
        return await self.get(caller)

    async def time_out(self, caller: Caller, until: datetime) -> LimitsView:
        """Block new bets until a time. A time-out can be extended but not shortened.

        Raises InvalidInput if the time is in the past.
        """
        if until <= self._db.now():
            message = "The time-out must end in the future."
            raise InvalidInput(message)
        await self._save(caller.user_id, lambda allowed: extend_time_out(allowed, until))
        return await self.get(caller)

    async def _save(self, user_id: str, change: Callable[[LimitState], LimitState]) -> None:
        for _ in range(_MAX_ATTEMPTS):
            stored = await self.load(user_id)
            try:
                await self._db.store(_row(stored, change(to_allowance(stored))).save())
            except ConditionFailed:
                continue
            return
        message = "The limits were changed at the same time. Try again."
        raise InvalidInput(message)

    def check_stake(
        self, stored: BettingLimits, state: BookState, stake: Cents, now: datetime
    ) -> None:
        """Raise StakeLimit, LossLimit or TimedOut if a limit forbids the stake."""
        usage = usage_at(state.usage, now)
        check_stake(to_allowance(stored), usage, state.head.balance(STAKES), stake, now)

    def unchanged_write(self, stored: BettingLimits) -> Put[BettingLimits] | None:
        """Return the write that fails if the limits change meanwhile; None without limits."""
        return None if stored.written == 0 else stored.save()


def user_book(user_id: str) -> str:
    """Return the name of a user's book."""
    return f"user:{user_id}"


def to_allowance(stored: BettingLimits) -> LimitState:
    requested = None
    if stored.wanted is not None:
        requested = BetLimits(*(stored.wanted.get(name) for name in _LIMIT_NAMES))
    return LimitState(
        BetLimits(
            stored.stake_per_bet_cents, stored.stake_per_day_cents, stored.loss_per_week_cents
        ),
        requested,
        stored.loosens_at,
        stored.time_out_until,
    )


def _row(stored: BettingLimits, allowed: LimitState) -> BettingLimits:
    bounds, requested = allowed.limits, allowed.wanted
    return stored.replace(
        stake_per_bet_cents=bounds.stake_per_bet,
        stake_per_day_cents=bounds.stake_per_day,
        loss_per_week_cents=bounds.loss_per_week,
        wanted=None
        if requested is None
        else {
            name: getattr(requested, name)
            for name in _LIMIT_NAMES
            if getattr(requested, name) is not None
        },
        loosens_at=allowed.loosens_at,
        time_out_until=allowed.time_out_until,
    )
