"""Kept here: a person's bets shown, and summed up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from grandstand.apps.bets.model.selections import parse_code
from grandstand.apps.bets.service.judging.intervals import (
    mean_interval,
    rate_interval,
    roi_interval,
)
from grandstand.apps.bets.service.money_values import Record, WagerSummary, WagerView
from grandstand.apps.bets.store import Wager


def view_of(wager: Wager) -> WagerView:
    """Answer a bet as it is shown."""
    selection = parse_code(wager.selection)
    return WagerView(
        wager.wager_id,
        wager.game_id,
        wager.sport,
        wager.home_team,
        wager.away_team,
        wager.commence_time,
        wager.market_key,
        selection.side or "",
        selection.point,
        selection.participant,
        wager.odds,
        wager.stake_cents,
        wager.bookmaker or "",
        wager.note or "",
        wager.placed_at,
        wager.status,
        wager.verdict,
        wager.payout_cents,
        wager.profit_cents,
        None if wager.clv is None else float(wager.clv),
        wager.settled_at,
    )


def summed(wagers: Sequence[Wager]) -> WagerSummary:
    """Answer bets in sum; what came back undecided counts for no rate."""
    settled = [each for each in wagers if each.status == "settled"]
    decided = [each for each in settled if each.profit_cents]
    won = sum((each.profit_cents or 0) > 0 for each in decided)
    opened = [each for each in wagers if each.status == "open"]
    return WagerSummary(
        len(wagers),
        len(opened),
        sum(each.stake_cents for each in settled),
        sum(each.stake_cents for each in opened),
        sum(each.profit_cents or 0 for each in settled),
        roi_interval([_money(each) for each in settled]),
        mean_interval([float(each.clv) for each in wagers if each.clv is not None]),
        rate_interval(won, len(decided)),
        records_of((each.sport, *_money(each)) for each in settled),
        records_of((each.market_key, *_money(each)) for each in settled),
        _curve(settled),
    )


def _money(wager: Wager) -> tuple[int, int]:
    return wager.stake_cents, wager.profit_cents or 0


def records_of(bets: Iterable[tuple[str, int, int]]) -> tuple[Record, ...]:
    """Answer bets in sum by their kind; each has its kind, its stake and its profit."""
    kinds: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for kind, stake, profit in bets:
        kinds[kind].append((stake, profit))
    return tuple(_record(kind, kinds[kind]) for kind in sorted(kinds))


def _record(name: str, bets: Sequence[tuple[int, int]]) -> Record:
    staked, profit = sum(each[0] for each in bets), sum(each[1] for each in bets)
    won = sum(each[1] > 0 for each in bets)
    return Record(name, len(bets), won, staked, profit, profit / staked if staked else None)


def _curve(settled: Iterable[Wager]) -> tuple[tuple[datetime, int], ...]:
    points, total = [], 0
    for each in sorted(settled, key=lambda one: one.settled_at or one.placed_at):
        total += each.profit_cents or 0
        points.append((each.settled_at or each.placed_at, total))
    return tuple(points)
