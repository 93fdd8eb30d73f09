"""Analysis of a race: figures, ranking and market comparison, and the backtest of the ranking."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final, NamedTuple

from grandstand.apps.keiba.domain import backtest
from grandstand.apps.keiba.domain.form import (
    Background,
    Entry,
    Figures,
    Record,
    compute_figures,
    learn_background,
)
from grandstand.apps.keiba.domain.races import (
    Entrant,
    Finisher,
    Odds,
    RaceCard,
    RaceFacts,
    RaceResult,
    Runner,
    WinOdds,
    shared_fields,
)
from grandstand.apps.keiba.domain.ranking import (
    Comparison,
    Rating,
    Reason,
    compare,
    explain,
    implied_probabilities,
    rate,
)
from grandstand.apps.keiba.services.page_cache import PageCache
from grandstand.apps.keiba.store import ScanEntries
from grandstand.core.errors import InvalidInput
from grandstand.storage.tables import AsyncStore

_MAX_REMEMBERED: Final = 64


@dataclass(frozen=True, slots=True)
class Insight:
    """One derived fact about a runner, labeled in English and Japanese.

    Either `record` or `days` is set.
    """

    name: str
    label: str
    label_ja: str
    record: Record | None = None
    days: int | None = None


@dataclass(frozen=True, slots=True)
class RankedRunner:
    """A runner's place in the ranking, its probabilities from 0 to 1, and the reasons.

    `fair_odds` are the break-even odds if our probability is right. `market` is the probability
    implied by the odds, `edge` ours minus that, `expected_return` the average return of a stake of
    one; all None without odds.
    """

    rank: int
    score: float
    win: float
    top2: float
    top3: float
    fair_odds: Decimal
    evidence: float
    reasons: tuple[Reason, ...]
    odds: Decimal | None = None
    popularity: int | None = None
    market: float | None = None
    edge: float | None = None
    expected_return: float | None = None


class RatedRunner(NamedTuple):
    """What is derived for one runner from everything except the odds."""

    figures: Figures
    insights: tuple[Insight, ...]
    rating: Rating
    reasons: tuple[Reason, ...]


class RunnerAnalysis(NamedTuple):
    """Everything derived for one runner."""

    figures: Figures
    insights: tuple[Insight, ...]
    ranked: RankedRunner


class RatingCache:
    """Rates fields and remembers the last ones.

    `fingerprint` identifies everything a field was rated from: equal fingerprints share a rating.
    """

    def __init__(self) -> None:
        self._ratings: OrderedDict[Hashable, tuple[RatedRunner, ...]] = OrderedDict()

    def rate(
        self, fingerprint: Hashable, card: RaceCard, entries: Sequence[Entry], *, on: date
    ) -> tuple[RatedRunner, ...]:
        """Return the rated runners of a race on a date, in the order given."""
        rated = self._ratings.get(fingerprint)
        if rated is None:
            rated = self._ratings[fingerprint] = rate_field(card, entries, on=on)
            if len(self._ratings) > _MAX_REMEMBERED:
                self._ratings.popitem(last=False)
        self._ratings.move_to_end(fingerprint)
        return rated


def background_of(entries: Sequence[Entry], on: date) -> Background:
    """Return what the past runs of a race's own runners teach."""
    return learn_background(
        [entry.form for entry in entries if entry.form is not None],
        before=on,
        parents=[entry.parents for entry in entries if entry.parents is not None],
    )


def rate_field(card: RaceCard, entries: Sequence[Entry], *, on: date) -> tuple[RatedRunner, ...]:
    """Rate the runners of a race on a date; leave scratched runners out of `entries`."""
    background = background_of(entries, on)
    field = [compute_figures(entry, card, background, on=on) for entry in entries]
    return tuple(
        RatedRunner(
            figures,
            _insights(figures),
            rating,
            tuple(explain(figures, contribution) for contribution in rating.contributions),
        )
        for figures, rating in zip(field, rate(field), strict=True)
    )


def compare_with_odds(
    field: Sequence[RatedRunner], entries: Sequence[Entry], odds: Odds | None
) -> dict[str, RunnerAnalysis]:
    """Compare ratings with the odds; return the full analysis by horse id."""
    win_odds = {} if odds is None else {each.horse_number: each for each in odds.win}
    prices = [_win_odds(entry.runner, win_odds) for entry in entries]
    comparisons = compare(
        [runner.rating.placing.win for runner in field], [price.odds for price in prices]
    )
    return {
        runner.figures.horse_id: RunnerAnalysis(
            runner.figures, runner.insights, _ranked(runner, price, comparison)
        )
        for runner, price, comparison in zip(field, prices, comparisons, strict=True)
    }


def _win_odds(runner: Runner, win_odds: Mapping[int, WinOdds]) -> WinOdds:
    """Return the current odds of a runner, else those printed on the card."""
    number = runner.horse_number or 0
    price = win_odds.get(number) or WinOdds(number, runner.win_odds, runner.popularity)
    on_sale = price.odds is not None and price.odds >= 1
    return price if on_sale else WinOdds(number, None, price.popularity)


def _ranked(runner: RatedRunner, price: WinOdds, comparison: Comparison) -> RankedRunner:
    rating = runner.rating
    win = rating.placing.win
    return RankedRunner(
        rank=rating.rank,
        score=rating.score,
        win=win,
        top2=rating.placing.top2,
        top3=rating.placing.top3,
        fair_odds=min(Decimal("9999.9"), Decimal(1 / max(win, 1e-9)).quantize(Decimal("0.1"))),
        evidence=rating.evidence,
        reasons=runner.reasons,
        odds=comparison.odds,
        popularity=price.popularity,
        market=comparison.market,
        edge=comparison.edge,
        expected_return=comparison.expected_return,
    )


def _insights(figures: Figures) -> tuple[Insight, ...]:
    days = figures.days_since_last_run
    return (
        Insight("rest", "Days since last run", "前走からの日数", days=days),
        Insight("career", "Career", "通算", record=figures.career),
        Insight("distance", "At similar distances", "距離", record=figures.at_distance),
        Insight("surface", "On this surface", "芝・ダート", record=figures.on_surface),
        Insight("going", "On similar going", "馬場状態", record=figures.on_going),
        Insight("course", "On this course", "コース", record=figures.on_course),
        Insight(
            "jockey", "Jockey on this course", "騎手のコース成績", record=figures.jockey_on_course
        ),
        Insight("sire", "Sire's offspring here", "父の産駒成績", record=figures.sire),
    )


@dataclass(frozen=True, slots=True)
class BacktestReport:
    """How well the ranking would have predicted cached results.

    Jockeys' own statistics are not used, because they date from after the race. `skipped` counts
    races with a result but too little cached form. Losses are None without races. `market_loss`
    covers the `market_races` whose result lists all odds, and `our_market_loss` is ours over the
    same races. `account` bets 100 yen on every runner with a positive expected return.
    """

    first: date
    last: date
    races: int
    skipped: int
    log_loss: float | None
    uniform_loss: float | None
    brier: float | None
    market_races: int
    market_loss: float | None
    our_market_loss: float | None
    calibration: tuple[backtest.Bin, ...]
    account: backtest.Account


@dataclass(frozen=True, slots=True)
class _TestedRace:
    """Our forecast of one race, the market's if all odds are known, and the bets."""

    ours: backtest.Forecast
    market: backtest.Forecast | None
    bets: tuple[backtest.Wager, ...]


@dataclass(kw_only=True)
class Backtester:
    """Tests the ranking against cached results, without fetching."""

    store: AsyncStore
    pages: PageCache

    async def run(self, first: date, last: date) -> BacktestReport:
        """Test the races between two dates, both included.

        Raises InvalidInput if `last` is before `first`.
        """
        if last < first:
            raise InvalidInput(f"The last day {last} is before the first day {first}.")
        results = [
            (result, result.race_date)
            for result in await self._cached_results()
            if result.confirmed
            and result.race_date is not None
            and first <= result.race_date <= last
        ]
        tested = []
        for result, race_date in results:
            race = await self._test(result, race_date)
            if race is not None:
                tested.append(race)
            await asyncio.sleep(0)
        return _summarize(tested, first, last, skipped=len(results) - len(tested))

    async def _cached_results(self) -> list[RaceResult]:
        race_ids: list[str] = []
        position: str | None = None
        while True:
            page = await self.store(ScanEntries("RACE#", position, 100))
            race_ids += [
                str(item["PK"]).removeprefix("RACE#")
                for item in page.items
                if item["SK"] == "RESULT"
            ]
            position = page.position
            if position is None:
                break
            await asyncio.sleep(0)
        keys = [self.pages.kinds.result.key(race_id=race_id) for race_id in race_ids]
        found = await self.pages.cache.get_many(keys)
        return [cached.value.value for cached in found if cached.value is not None]

    async def _test(self, result: RaceResult, race_date: date) -> _TestedRace | None:
        """Rate a race as of its day; None if a runner's form is not cached or nobody won."""
        field = [each for each in result.finishers if each.outcome not in {"withdrawn", "excluded"}]
        winners = tuple(at for at, each in enumerate(field) if each.position == 1)
        if not winners or len(field) <= 1:
            return None
        entries = await self._entries(field)
        if entries is None:
            return None
        horses = tuple(entry.runner for entry in entries)
        card = RaceCard(**shared_fields(result, RaceFacts), horses=horses)
        background = background_of(entries, race_date)
        ratings = rate(
            [compute_figures(entry, card, background, on=race_date) for entry in entries]
        )
        chances = tuple(rating.placing.win for rating in ratings)
        odds = [each.win_odds for each in field]
        priced = all(price is not None and price >= 1 for price in odds)
        market = tuple(
            chance
            for chance in (implied_probabilities(odds) if priced else ())
            if chance is not None
        )
        return _TestedRace(
            backtest.Forecast(chances, winners),
            backtest.Forecast(market, winners) if priced else None,
            _bets(result, field, chances) if priced else (),
        )

    async def _entries(self, field: Sequence[Finisher]) -> list[Entry] | None:
        kinds = self.pages.kinds
        keys: list[Any] = [
            *(kinds.form.key(horse_id=each.horse_id) for each in field),
            *(kinds.parents.key(horse_id=each.horse_id) for each in field),
        ]
        found = [cached.value for cached in await self.pages.cache.get_many(keys)]
        forms, parents = found[: len(field)], found[len(field) :]
        known = [form.value for form in forms if form is not None]
        if len(known) < len(field):
            return None
        return [
            Entry(
                Runner(**shared_fields(finisher, Entrant)),
                form,
                None,
                None if pair is None else pair.value,
            )
            for finisher, form, pair in zip(field, known, parents, strict=True)
        ]


def _bets(
    result: RaceResult, field: Sequence[Finisher], chances: Sequence[float]
) -> tuple[backtest.Wager, ...]:
    payouts = {
        payout.numbers[0]: payout.amount_yen
        for payout in result.payouts
        if payout.bet == "win" and payout.numbers
    }
    comparisons = compare(chances, [each.win_odds for each in field])
    return backtest.flat_stakes(
        [each.expected_return for each in comparisons],
        [payouts.get(each.horse_number or 0, 0) for each in field],
    )


def _summarize(
    tested: Sequence[_TestedRace], first: date, last: date, *, skipped: int
) -> BacktestReport:
    ours = [race.ours for race in tested]
    priced = [(race.ours, race.market) for race in tested if race.market is not None]
    uniform = [_uniform(forecast) for forecast in ours]
    return BacktestReport(
        first=first,
        last=last,
        races=len(tested),
        skipped=skipped,
        log_loss=backtest.log_loss(ours) if ours else None,
        uniform_loss=backtest.log_loss(uniform) if uniform else None,
        brier=backtest.brier(ours) if ours else None,
        market_races=len(priced),
        market_loss=backtest.log_loss([market for _, market in priced]) if priced else None,
        our_market_loss=backtest.log_loss([own for own, _ in priced]) if priced else None,
        calibration=backtest.calibration(ours) if ours else (),
        account=backtest.account(bet for race in tested for bet in race.bets),
    )


def _uniform(forecast: backtest.Forecast) -> backtest.Forecast:
    count = len(forecast.chances)
    return backtest.Forecast((1 / count,) * count, forecast.winners)
