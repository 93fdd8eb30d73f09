"""Kept here: what is derived from a gathered race: figures, a ranking, and the odds beside it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Final, NamedTuple

from grandstand.apps.keiba.model import Odds, RaceCard, Runner, WinOdds
from grandstand.apps.keiba.model.background import Background, learn_background
from grandstand.apps.keiba.model.form import Entry, Figures, figures
from grandstand.apps.keiba.model.market import Comparison, compare
from grandstand.apps.keiba.model.rating import Rating, rate
from grandstand.apps.keiba.model.reasons import Reason, reason
from grandstand.apps.keiba.service.values import Insight, Ranked

_MOST_FAIR_ODDS: Final = Decimal("9999.9")
_TENTH: Final = Decimal("0.1")
_LEAST_ODDS: Final = Decimal(1)
_REMEMBERED: Final = 64


class Rated(NamedTuple):
    """What is derived for one runner from everything but the odds."""

    figures: Figures
    insights: tuple[Insight, ...]
    rating: Rating
    reasons: tuple[Reason, ...]


class Derived(NamedTuple):
    """What is derived for one runner."""

    figures: Figures
    insights: tuple[Insight, ...]
    ranked: Ranked


class Ratings:
    """Rates fields, and remembers the last ones: a card that is looked at again is not rated anew.

    `made_of` names all that a field was made of: the same name is the same field.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, tuple[Rated, ...]] = OrderedDict()

    def of(
        self, made_of: Hashable, card: RaceCard, entries: Sequence[Entry], *, on: date
    ) -> tuple[Rated, ...]:
        """Answer what follows for the runners of a race on a date, in the order given."""
        known = self._known.get(made_of)
        if known is None:
            known = self._known[made_of] = rated(card, entries, on=on)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(made_of)
        return known


def background_of(entries: Sequence[Entry], on: date) -> Background:
    """Answer what the earlier runs of a race's own runners teach."""
    return learn_background(
        [entry.form for entry in entries if entry.form is not None],
        before=on,
        parents=[entry.parents for entry in entries if entry.parents is not None],
    )


def rated(card: RaceCard, entries: Sequence[Entry], *, on: date) -> tuple[Rated, ...]:
    """Rate the runners of a race on a date; scratched ones are not to be among them."""
    background = background_of(entries, on)
    field = [figures(entry, card, background, on=on) for entry in entries]
    return tuple(
        Rated(
            each,
            _insights(each),
            rating,
            tuple(reason(each, one) for one in rating.contributions),
        )
        for each, rating in zip(field, rate(field), strict=True)
    )


def beside_odds(
    field: Sequence[Rated], entries: Sequence[Entry], odds: Odds | None
) -> dict[str, Derived]:
    """Hold ratings against the odds; answer all that is derived, by the horse's id."""
    prices = {} if odds is None else {one.horse_number: one for one in odds.win}
    offered = [_offered(entry.runner, prices) for entry in entries]
    compared = compare(
        [each.rating.placing.win for each in field], [price.odds for price in offered]
    )
    return {
        each.figures.horse_id: Derived(each.figures, each.insights, _ranked(each, price, beside))
        for each, price, beside in zip(field, offered, compared, strict=True)
    }


def _offered(runner: Runner, prices: Mapping[int, WinOdds]) -> WinOdds:
    """Answer the odds on a runner: those sold, else those on the card."""
    number = runner.horse_number or 0
    price = prices.get(number) or WinOdds(number, runner.win_odds, runner.popularity)
    sold = price.odds is not None and price.odds >= _LEAST_ODDS
    return price if sold else WinOdds(number, None, price.popularity)


def _ranked(each: Rated, price: WinOdds, beside: Comparison) -> Ranked:
    rating = each.rating
    win = rating.placing.win
    fair = min(_MOST_FAIR_ODDS, Decimal(1 / max(win, 1e-9)).quantize(_TENTH))
    return Ranked(
        rank=rating.rank,
        score=rating.score,
        win=win,
        top2=rating.placing.top2,
        top3=rating.placing.top3,
        fair_odds=fair,
        evidence=rating.evidence,
        reasons=each.reasons,
        odds=beside.odds,
        popularity=price.popularity,
        market=beside.market,
        edge=beside.edge,
        expected_return=beside.expected_return,
    )


def _insights(each: Figures) -> tuple[Insight, ...]:
    return (
        Insight("rest", "Days since last run", "前走からの日数", days=each.days_since_last_run),
        Insight("career", "Career", "通算", record=each.career),
        Insight("distance", "At such a distance", "距離", record=each.at_distance),
        Insight("surface", "On this surface", "芝・ダート", record=each.on_surface),
        Insight("going", "On such going", "馬場状態", record=each.on_going),
        Insight("course", "On this course", "コース", record=each.on_course),
        Insight(
            "jockey", "Jockey on this course", "騎手のコース成績", record=each.jockey_on_course
        ),
        Insight("sire", "Sire's offspring here", "父の産駒成績", record=each.sire),
    )
