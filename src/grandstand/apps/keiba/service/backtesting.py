"""Kept here: the ranking held against kept results, with nothing known that was not then."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import Any, Final

from grandstand.apps.keiba.model import Finisher, RaceCard, RaceFacts, RaceResult, Runner
from grandstand.apps.keiba.model.backtest import (
    Forecast,
    Wager,
    account,
    brier,
    calibration,
    flat_stakes,
    log_loss,
)
from grandstand.apps.keiba.model.form import Entry, figures
from grandstand.apps.keiba.model.market import compare, implied
from grandstand.apps.keiba.model.rating import rate
from grandstand.apps.keiba.service.cache.library import Library
from grandstand.apps.keiba.service.cards.insight import background_of
from grandstand.apps.keiba.service.means import Means
from grandstand.apps.keiba.service.values import Backtested
from grandstand.apps.keiba.store import ReadEntries
from grandstand.base.errors import InvalidInput

_AT_ONCE: Final = 100
_RESULT: Final = "RESULT"
_LEAST_RUNNERS: Final = 2
_NOT_STARTED: Final = frozenset({"withdrawn", "excluded"})


@dataclass(frozen=True, slots=True)
class _Tested:
    """One race: our forecast, the market's where its odds are known, and the bets."""

    ours: Forecast
    market: Forecast | None
    bets: tuple[Wager, ...]


class Backtest:
    """Holds the ranking against results that are kept, fetching nothing."""

    def __init__(self, means: Means, library: Library) -> None:
        self._means = means
        self._library = library

    async def run(self, first: date, last: date) -> Backtested:
        """Measure races from one day to another, both included; raise InvalidInput."""
        if last < first:
            message = f"{last} is before {first}: give the earlier day first"
            raise InvalidInput(message)
        results = [
            (result, result.race_date)
            for result in await self._results()
            if result.confirmed
            and result.race_date is not None
            and first <= result.race_date <= last
        ]
        tested = []
        for result, run_on in results:
            one = await self._tested(result, run_on)
            if one is not None:
                tested.append(one)
            await asyncio.sleep(0)
        return _summed(tested, first, last, left_out=len(results) - len(tested))

    async def _results(self) -> list[RaceResult]:
        """Answer every result that is kept, by reading through the races."""
        race_ids: list[str] = []
        position: str | None = None
        while True:
            page = await self._means.store(ReadEntries("RACE#", position, _AT_ONCE))
            race_ids += [
                str(item["PK"]).removeprefix("RACE#")
                for item in page.items
                if item["SK"] == _RESULT
            ]
            position = page.position
            if position is None:
                break
            await asyncio.sleep(0)
        keys = [self._library.forms.result.key(race_id=race_id) for race_id in race_ids]
        found = await self._library.cache.get_many(keys)
        return [cached.value.value for cached in found if cached.value is not None]

    async def _tested(self, result: RaceResult, run_on: date) -> _Tested | None:
        """Rate a race as of its day; None when some runner's form is not kept, or none won."""
        field = [one for one in result.finishers if one.outcome not in _NOT_STARTED]
        winners = tuple(at for at, one in enumerate(field) if one.position == 1)
        if not winners or len(field) < _LEAST_RUNNERS:
            return None
        entries = await self._entries(field)
        if entries is None:
            return None
        card = card_of(result, [entry.runner for entry in entries])
        background = background_of(entries, run_on)
        ratings = rate([figures(entry, card, background, on=run_on) for entry in entries])
        chances = tuple(rating.placing.win for rating in ratings)
        odds = [one.win_odds for one in field]
        priced = all(price is not None and price >= 1 for price in odds)
        market = implied(odds) if priced else ()
        theirs = tuple(chance for chance in market if chance is not None)
        return _Tested(
            Forecast(chances, winners),
            Forecast(theirs, winners) if priced else None,
            _bets(result, field, chances) if priced else (),
        )

    async def _entries(self, field: Sequence[Finisher]) -> list[Entry] | None:
        forms = self._library.forms
        keys: list[Any] = [
            *(forms.results.key(horse_id=one.horse_id) for one in field),
            *(forms.parents.key(horse_id=one.horse_id) for one in field),
        ]
        found = [one.value for one in await self._library.cache.get_many(keys)]
        results, parents = found[: len(field)], found[len(field) :]
        read = [one.value for one in results if one is not None]
        if len(read) < len(field):
            return None
        return [
            Entry(runner_of(finisher), form, None, None if kept is None else kept.value)
            for finisher, form, kept in zip(field, read, parents, strict=True)
        ]


def runner_of(one: Finisher) -> Runner:
    """Answer a finisher as it stood on the card."""
    return Runner(
        horse_id=one.horse_id,
        horse_name=one.horse_name,
        jockey_id=one.jockey_id,
        jockey_name=one.jockey_name,
        frame_number=one.frame_number,
        horse_number=one.horse_number,
        carried_weight=one.carried_weight,
        sex=one.sex,
        age=one.age,
        body_weight=one.body_weight,
        body_weight_change=one.body_weight_change,
    )


def card_of(result: RaceResult, runners: Sequence[Runner]) -> RaceCard:
    """Answer the card a result belongs to, which says the same of the race."""
    facts = {each.name: getattr(result, each.name) for each in fields(RaceFacts)}
    return RaceCard(
        race_id=result.race_id,
        race_name=result.race_name,
        horses=tuple(runners),
        distance=result.distance,
        track_type=result.track_type,
        track_name=result.track_name,
        **facts,
    )


def _bets(
    result: RaceResult, field: Sequence[Finisher], chances: Sequence[float]
) -> tuple[Wager, ...]:
    paid = {
        payout.numbers[0]: payout.amount_yen
        for payout in result.payouts
        if payout.bet == "win" and payout.numbers
    }
    compared = compare(chances, [one.win_odds for one in field])
    return flat_stakes(
        [one.expected_return for one in compared],
        [paid.get(one.horse_number or 0, 0) for one in field],
    )


def _summed(tested: Sequence[_Tested], first: date, last: date, *, left_out: int) -> Backtested:
    ours = [one.ours for one in tested]
    priced = [(one.ours, one.market) for one in tested if one.market is not None]
    even = [_uniform(forecast) for forecast in ours]
    return Backtested(
        first=first,
        last=last,
        races=len(tested),
        left_out=left_out,
        log_loss=log_loss(ours) if ours else None,
        uniform_loss=log_loss(even) if even else None,
        brier=brier(ours) if ours else None,
        market_races=len(priced),
        market_loss=log_loss([market for _, market in priced]) if priced else None,
        our_market_loss=log_loss([own for own, _ in priced]) if priced else None,
        calibration=calibration(ours) if ours else (),
        account=account(bet for one in tested for bet in one.bets),
    )


def _uniform(forecast: Forecast) -> Forecast:
    count = len(forecast.chances)
    return Forecast((1 / count,) * count, forecast.winners)
