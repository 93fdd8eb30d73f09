"""Kept here: what people allow themselves, read, changed and held against their book."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from grandstand.apps.bets.model.money.ledger import STAKES, Cents
from grandstand.apps.bets.model.money.limits import (
    Allowed,
    Bounds,
    changed,
    check,
    timed_out,
    usage_at,
)
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.money.ledgers import Ledgers, Standing
from grandstand.apps.bets.service.money_values import LimitsDraft, LimitsView
from grandstand.apps.bets.service.refusals import LimitsRefused
from grandstand.apps.bets.store import KeptLimits
from grandstand.storage.tables import Put
from grandstand.storage.tables.errors import ConditionFailed

_TRIES: Final = 5
_NAMES: Final = ("stake_per_bet", "stake_per_day", "loss_per_week")


class Restraint:
    """A person's limits; a bet is entered only while they stand as they were read."""

    def __init__(self, means: Means, ledgers: Ledgers) -> None:
        self._means = means
        self._ledgers = ledgers

    async def kept(self, user_id: str) -> KeptLimits:
        """Answer a person's limits as they are kept."""
        return await self._means.store(KeptLimits.of_user(user_id)) or KeptLimits(user_id=user_id)

    async def view(self, user_id: str) -> LimitsView:
        """Answer a person's limits and how much of them is used."""
        now, kept = self._means.now(), await self.kept(user_id)
        allowed = allowed_of(kept)
        bounds = allowed.at(now)
        usage = usage_at((await self._ledgers.standing(book_of(user_id))).usage, now)
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

    async def change(self, user_id: str, draft: LimitsDraft) -> LimitsView:
        """Change a person's limits; raise LimitsRefused."""
        wanted = Bounds(
            draft.stake_per_bet_cents, draft.stake_per_day_cents, draft.loss_per_week_cents
        )
        for name in _NAMES:
            value = getattr(wanted, name)
            if value is not None and value < 0:
                message = f"A limit is 0 or more, not {value} cents"
                raise LimitsRefused(message)
        now = self._means.now()
        await self._keep(user_id, lambda allowed: changed(allowed, wanted, now))
        return await self.view(user_id)

    async def time_out(self, user_id: str, until: datetime) -> LimitsView:
        """Let a person take no bets until a moment; raise LimitsRefused for one that is past."""
        if until <= self._means.now():
            message = "Time out ends in the future: give a later moment"
            raise LimitsRefused(message)
        await self._keep(user_id, lambda allowed: timed_out(allowed, until))
        return await self.view(user_id)

    async def _keep(self, user_id: str, change: Callable[[Allowed], Allowed]) -> None:
        for _ in range(_TRIES):
            kept = await self.kept(user_id)
            try:
                await self._means.store(_row(kept, change(allowed_of(kept))).keep())
            except ConditionFailed:
                continue
            return
        message = "The limits were changed at the same time: look again"
        raise LimitsRefused(message)

    def check(self, kept: KeptLimits, standing: Standing, stake: Cents, now: datetime) -> None:
        """Let a stake pass, or raise StakeLimit, LossLimit or TimedOut."""
        usage = usage_at(standing.usage, now)
        check(allowed_of(kept), usage, standing.head.balance(STAKES), stake, now)

    def unchanged(self, kept: KeptLimits) -> Put[KeptLimits] | None:
        """Answer the write that holds limits still while a bet is entered; None for none."""
        return None if kept.written == 0 else kept.keep()


def book_of(user_id: str) -> str:
    """Name a person's book of the ledger."""
    return f"user:{user_id}"


def allowed_of(kept: KeptLimits) -> Allowed:
    """Answer limits as the rules read them."""
    wanted = None
    if kept.wanted is not None:
        wanted = Bounds(*(kept.wanted.get(name) for name in _NAMES))
    return Allowed(
        Bounds(kept.stake_per_bet_cents, kept.stake_per_day_cents, kept.loss_per_week_cents),
        wanted,
        kept.loosens_at,
        kept.time_out_until,
    )


def _row(kept: KeptLimits, allowed: Allowed) -> KeptLimits:
    bounds, wanted = allowed.bounds, allowed.wanted
    return kept.replace(
        stake_per_bet_cents=bounds.stake_per_bet,
        stake_per_day_cents=bounds.stake_per_day,
        loss_per_week_cents=bounds.loss_per_week,
        wanted=None
        if wanted is None
        else {name: getattr(wanted, name) for name in _NAMES if getattr(wanted, name) is not None},
        loosens_at=allowed.loosens_at,
        time_out_until=allowed.time_out_until,
    )
