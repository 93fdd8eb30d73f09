"""Ranking of runners: factors, probabilities, market comparison and explanations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import Final, Literal, TypeAlias, get_args

from grandstand.apps.keiba.domain.form import Figures, Record, WeightedMean
from grandstand.core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Discount:
    """Exponents applied to win probabilities for second and third place."""

    second: float
    third: float


HARVILLE: Final = Discount(second=1.0, third=1.0)
"""No discount: overestimates favorites for second and third place."""

HENERY: Final = Discount(second=0.76, third=0.62)
"""The exponents Lo and Bacon-Shone found closest to Henery's model of normal running times."""


@dataclass(frozen=True, slots=True)
class Placing:
    """A runner's probabilities of finishing first, second and third."""

    win: float
    second: float
    third: float

    @property
    def top2(self) -> float:
        """The probability of finishing in the top two."""
        return self.win + self.second

    @property
    def top3(self) -> float:
        """The probability of finishing in the top three."""
        return self.win + self.second + self.third


def win_probabilities(scores: Sequence[float], *, spread: float = 1.0) -> tuple[float, ...]:
    """Return win probabilities: the softmax of the scores divided by the spread.

    All are positive and sum to one. Raises InvalidInput for a score that is not finite and for a
    spread that is not positive.
    """
    if not all(math.isfinite(score) for score in scores):
        raise InvalidInput("Scores must be finite numbers.")
    if not spread > 0:
        raise InvalidInput(f"The spread must be positive, not {spread}.")
    best = max(scores, default=0.0)
    weights = [max(math.exp((score - best) / spread), 1e-300) for score in scores]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


def placings(win: Sequence[float], discount: Discount = HARVILLE) -> tuple[Placing, ...]:
    """Return every runner's probabilities of the first three places.

    Each place sums to one over the runners. Raises InvalidInput unless the win probabilities are
    positive and sum to one.
    """
    if not win or not all(chance > 0 for chance in win):
        raise InvalidInput("Win probabilities must be positive.")
    if abs(math.fsum(win) - 1) > 1e-6:
        raise InvalidInput("Win probabilities must sum to one.")
    second_weights = [chance**discount.second for chance in win]
    third_weights = [chance**discount.third for chance in win]
    others = [_sum_without(second_weights, runner) for runner in range(len(win))]
    second = [0.0] * len(win)
    third = [0.0] * len(win)
    for one, other in combinations(range(len(win)), 2):
        ahead = win[one] * second_weights[other] / others[one]
        behind = win[other] * second_weights[one] / others[other]
        second[other] += ahead
        second[one] += behind
        if len(win) > 2:
            share = (ahead + behind) / _sum_without(third_weights, one, other)
            for runner, weight in enumerate(third_weights):
                if runner not in (one, other):
                    third[runner] += share * weight
    return tuple(Placing(*chances) for chances in zip(win, second, third, strict=True))


def _sum_without(weights: Sequence[float], *excluded: int) -> float:
    """Return the sum of the other weights; subtracting from the total would lose precision."""
    return sum(weight for runner, weight in enumerate(weights) if runner not in excluded)


Factor: TypeAlias = Literal[
    "speed",
    "trend",
    "distance",
    "surface",
    "going",
    "course",
    "finishing",
    "class",
    "carried",
    "body",
    "rest",
    "jockey",
    "jockey_course",
    "sire",
]

FACTORS: Final[tuple[Factor, ...]] = get_args(Factor)

POINTS_PER_E_FOLD: Final = 10.0
"""Ten more points multiply a runner's odds by e, about 2.7."""


@dataclass(frozen=True, slots=True)
class Weight:
    """The weight of a factor.

    `points` are per unit above the mean of the field; `shrinkage` is the evidence at which a
    reading counts half, the rest being the mean.
    """

    points: float
    shrinkage: float


# Fitted by benchmarks/keiba/fitting.py to the first three of 2,340 simulated races, with the form
# of a race's own runners as background. Factors below two standard errors are zero: they are shown
# but do not count until they are fitted again.
WEIGHTS: Final[Mapping[Factor, Weight]] = {
    # Per point of the speed figure.
    "speed": Weight(points=1.16, shrinkage=3.0),
    "trend": Weight(points=0.0, shrinkage=2.0),
    "distance": Weight(points=0.881, shrinkage=0.0),
    "surface": Weight(points=1.72, shrinkage=0.0),
    "going": Weight(points=0.0, shrinkage=0.0),
    "course": Weight(points=0.0, shrinkage=0.0),
    # From last to first.
    "finishing": Weight(points=29.1, shrinkage=2.0),
    # Per class.
    "class": Weight(points=3.83, shrinkage=1.0),
    # Per kilogram.
    "carried": Weight(points=0.0, shrinkage=0.5),
    "body": Weight(points=0.0, shrinkage=0.0),
    # Per e-fold of days from the best rest.
    "rest": Weight(points=0.0, shrinkage=0.0),
    # From never to always in the top three.
    "jockey": Weight(points=72.3, shrinkage=100.0),
    "jockey_course": Weight(points=0.0, shrinkage=30.0),
    "sire": Weight(points=0.0, shrinkage=50.0),
}


_BEST_REST_DAYS: Final = 35.0


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one factor adds to a runner's score.

    `reading` is the runner's value with its evidence, None if unknown, which adds nothing;
    `reliability`, from 0 to 1, is its weight against the mean of the field.
    """

    factor: Factor
    points: float
    reading: WeightedMean | None
    reliability: float


@dataclass(frozen=True, slots=True)
class Rating:
    """A runner's rank, score and probabilities; the score is the sum of the contributions.

    `evidence`, from 0 to 1, is the reliability of its speed figures.
    """

    horse_id: str
    rank: int
    score: float
    placing: Placing
    contributions: tuple[Contribution, ...]
    evidence: float


def rate(
    field: Sequence[Figures],
    *,
    weights: Mapping[Factor, Weight] = WEIGHTS,
    discount: Discount = HENERY,
) -> tuple[Rating, ...]:
    """Rate the runners of one race, in the order given; equal scores share a rank."""
    if not field:
        return ()
    rows = compute_contributions(field, weights)
    scores = [math.fsum(each.points for each in row) for row in rows]
    chances = placings(win_probabilities(scores, spread=POINTS_PER_E_FOLD), discount)
    return tuple(
        Rating(
            horse_id=figures.horse_id,
            rank=1 + sum(other > score for other in scores),
            score=score,
            placing=placing,
            contributions=row,
            evidence=next(each.reliability for each in row if each.factor == "speed"),
        )
        for figures, row, score, placing in zip(field, rows, scores, chances, strict=True)
    )


def read_factors(figures: Figures) -> Mapping[Factor, WeightedMean | None]:
    """Return the value of each factor; higher is better for all of them."""
    return {
        "speed": figures.speed,
        "trend": figures.trend,
        "distance": figures.distance_gain,
        "surface": figures.surface_gain,
        "going": figures.going_gain,
        "course": figures.course_gain,
        "finishing": figures.finishing,
        "class": _negative(figures.class_move),
        "carried": _negative(figures.carried_change),
        "body": _known(figures.body_weight_change, lambda change: -abs(change)),
        "rest": _known(
            figures.days_since_last_run,
            lambda days: -abs(math.log(max(days, 1) / _BEST_REST_DAYS)),
        ),
        "jockey": figures.jockey,
        "jockey_course": figures.jockey_gain,
        "sire": _rate(figures),
    }


def compute_contributions(
    field: Sequence[Figures], weights: Mapping[Factor, Weight] = WEIGHTS
) -> tuple[tuple[Contribution, ...], ...]:
    """Return what every factor adds to every runner of one race, in the order given.

    A reading is compared with the mean of the field and weighted by its reliability.
    """
    rows = [read_factors(figures) for figures in field]
    columns = [
        _column(factor, [row[factor] for row in rows], weights[factor]) for factor in FACTORS
    ]
    return tuple(zip(*columns, strict=True))


def _column(
    factor: Factor, column: Sequence[WeightedMean | None], weight: Weight
) -> tuple[Contribution, ...]:
    reliabilities = [0.0 if each is None else _reliability(each, weight) for each in column]
    total_reliability = math.fsum(reliabilities)
    if not total_reliability:
        return tuple(Contribution(factor, 0.0, each, 0.0) for each in column)
    mean = (
        math.fsum(
            reliability * each.value
            for each, reliability in zip(column, reliabilities, strict=True)
            if each is not None
        )
        / total_reliability
    )
    return tuple(
        Contribution(
            factor=factor,
            points=0.0 if each is None else weight.points * reliability * (each.value - mean),
            reading=each,
            reliability=reliability,
        )
        for each, reliability in zip(column, reliabilities, strict=True)
    )


def _reliability(reading: WeightedMean, weight: Weight) -> float:
    return reading.weight / (reading.weight + weight.shrinkage) if reading.weight > 0 else 0.0


def _negative(mean: WeightedMean | None) -> WeightedMean | None:
    return None if mean is None else WeightedMean(-mean.value, mean.weight)


def _known(value: int | None, score: Callable[[int], float]) -> WeightedMean | None:
    return None if value is None else WeightedMean(score(value), 1.0)


def _rate(figures: Figures) -> WeightedMean | None:
    rate_placed = figures.sire.top3_rate
    return None if rate_placed is None else WeightedMean(rate_placed, float(figures.sire.starts))


WIN_PAYOUT_RATE: Final = 0.8
"""The share of win stakes that the JRA pays back; the takeout is one fifth."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A runner's probability according to us and to the market.

    `edge` is the difference; `expected_return` is the average return of a stake of one if we are
    right, so a bet pays above one.
    """

    ours: float
    market: float | None
    odds: Decimal | None
    edge: float | None
    expected_return: float | None


def implied_probabilities(odds: Sequence[Decimal | None]) -> tuple[float | None, ...]:
    """Return the probabilities implied by win odds, without the takeout.

    The inverse odds are divided by their sum. If some are missing, the JRA payout rate is used
    instead. Raises InvalidInput for odds below one.
    """
    inverse = _inverse(odds)
    known = [value for value in inverse if value is not None]
    if len(known) < len(inverse):
        return tuple(None if value is None else value * WIN_PAYOUT_RATE for value in inverse)
    total = math.fsum(known)
    return tuple(value / total for value in known)


def expected_return(chance: float, odds: Decimal) -> float:
    """Return the average return of a stake of one.

    Raises InvalidInput for odds below one.
    """
    [inverse] = _inverse((odds,))
    return chance / inverse if inverse else 0.0


def compare(ours: Sequence[float], odds: Sequence[Decimal | None]) -> tuple[Comparison, ...]:
    """Compare our probabilities with the market's, runner by runner.

    Raises InvalidInput for odds below one and for lists of different lengths.
    """
    if len(ours) != len(odds):
        raise InvalidInput(f"Got {len(ours)} probabilities but {len(odds)} odds.")
    implied = implied_probabilities(odds)
    return tuple(
        Comparison(
            ours=chance,
            market=market,
            odds=price,
            edge=None if market is None else chance - market,
            expected_return=None if price is None else expected_return(chance, price),
        )
        for chance, market, price in zip(ours, implied, odds, strict=True)
    )


def _inverse(odds: Sequence[Decimal | None]) -> tuple[float | None, ...]:
    if any(price is not None and not price >= 1 for price in odds):
        raise InvalidInput("Win odds must be at least 1.0.")
    return tuple(None if price is None else 1 / float(price) for price in odds)


_Texts: TypeAlias = tuple[str, str]

LABELS: Final[Mapping[Factor, _Texts]] = {
    "speed": ("Speed", "スピード指数"),
    "trend": ("Trend", "近走の勢い"),
    "distance": ("Distance", "距離適性"),
    "surface": ("Surface", "芝ダート適性"),
    "going": ("Going", "馬場状態適性"),
    "course": ("Course", "コース適性"),
    "finishing": ("Finishes", "着順"),
    "class": ("Class", "クラス"),
    "carried": ("Weight carried", "斤量"),
    "body": ("Body weight", "馬体重"),
    "rest": ("Rest", "出走間隔"),
    "jockey": ("Jockey", "騎手"),
    "jockey_course": ("Jockey on this course", "騎手のコース実績"),
    "sire": ("Sire", "父の産駒成績"),
}
"""Names of the factors in English and Japanese."""


@dataclass(frozen=True, slots=True)
class Reason:
    """The effect of one factor on one runner, in English and Japanese."""

    factor: Factor
    points: float
    label: str
    label_ja: str
    sentence: str
    sentence_ja: str


def explain(figures: Figures, contribution: Contribution) -> Reason:
    """Explain a contribution: the runner's value and its effect."""
    label, label_ja = LABELS[contribution.factor]
    if contribution.reading is None:
        text = "Unknown, counted as the average of the field."
        text_ja = "データなし。出走馬の平均とみなす。"
    else:
        fact, fact_ja = _FACTS[contribution.factor](figures, contribution.reading)
        verdict, verdict_ja = _verdict(contribution.points)
        text, text_ja = f"{fact}: {verdict}.", f"{fact_ja}。{verdict_ja}。"
    return Reason(contribution.factor, contribution.points, label, label_ja, text, text_ja)


def _verdict(points: float) -> _Texts:
    tenths = round(points, 1)
    if tenths > 0:
        return f"+{tenths:.1f} points", f"{tenths:.1f}点のプラス"
    if tenths < 0:
        return f"-{-tenths:.1f} points", f"{-tenths:.1f}点のマイナス"
    return "no effect", "増減なし"


def _speed(figures: Figures, reading: WeightedMean) -> _Texts:
    runs = len(figures.speeds)
    return (
        f"{_count(runs, 'timed run')}, on average {_compare(reading.value, 'standard')}",
        f"計時{runs}走の平均は基準比{reading.value:+.1f}",
    )


def _trend(_figures: Figures, reading: WeightedMean) -> _Texts:
    return (
        f"Last run {_compare(reading.value, 'the previous ones')}",
        f"前走はそれ以前の近走と比べ{reading.value:+.1f}",
    )


def _gain(
    record_of: Callable[[Figures], Record], where: str, where_ja: str
) -> Callable[[Figures, WeightedMean], _Texts]:
    def fact(figures: Figures, reading: WeightedMean) -> _Texts:
        record = record_of(figures)
        return (
            f"{_describe(record)} {where}, expected {_compare(reading.value, 'its own average')}",
            f"{where_ja}では{_describe_ja(record)}、自身の平均比で{reading.value:+.1f}の見込み",
        )

    return fact


def _finishing(figures: Figures, reading: WeightedMean) -> _Texts:
    share = round(100 * reading.value)
    return (
        f"Beat {share}% of rivals in {_count(figures.runs, 'run')}",
        f"{figures.runs}走で相手の{share}%に先着",
    )


def _class(_figures: Figures, reading: WeightedMean) -> _Texts:
    step = -reading.value
    way, way_ja = ("up", "昇級") if step > 0 else ("down", "降級")
    if not round(step, 1):
        return "Same class", "同クラス"
    return (
        f"{abs(step):.1f} classes {way} from past runs",
        f"これまで比で{abs(step):.1f}段階の{way_ja}",
    )


def _carried(_figures: Figures, reading: WeightedMean) -> _Texts:
    return (
        f"{-reading.value:+.1f} kg carried compared with past runs",
        f"斤量はこれまで比{-reading.value:+.1f}キロ",
    )


def _body(figures: Figures, _reading: WeightedMean) -> _Texts:
    change = figures.body_weight_change or 0
    return f"Body weight {change:+d} kg since last run", f"馬体重は前走比{change:+d}キロ"


def _rest(figures: Figures, _reading: WeightedMean) -> _Texts:
    days = figures.days_since_last_run or 0
    return f"Last run {_count(days, 'day')} ago", f"前走から{days}日"


def _jockey(_figures: Figures, reading: WeightedMean) -> _Texts:
    rate, rides = 100 * reading.value, round(reading.weight)
    return (
        f"Jockey in the top three in {rate:.1f}% of {_count(rides, 'ride')}",
        f"騎手の複勝率は{rides}騎乗で{rate:.1f}%",
    )


def _jockey_course(figures: Figures, reading: WeightedMean) -> _Texts:
    record = figures.jockey_on_course
    return (
        f"Jockey here: {_describe(record)}, {100 * reading.value:+.1f}% compared with all courses",
        f"騎手はこのコースで{_describe_ja(record)}、全コース比{100 * reading.value:+.1f}%",
    )


def _sire(figures: Figures, reading: WeightedMean) -> _Texts:
    rate, starts = 100 * reading.value, figures.sire.starts
    return (
        f"Sire's offspring on this surface: top three in {rate:.1f}% of {starts} starts",
        f"父の産駒はこの馬場で{starts}走、複勝率{rate:.1f}%",
    )


def _compare(points: float, what: str) -> str:
    if not round(points, 1):
        return f"level with {what}"
    way = "above" if points > 0 else "below"
    return f"{abs(points):.1f} points {way} {what}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _describe(record: Record) -> str:
    return f"{_count(record.starts, 'run')}, {record.top3} in the top three"


def _describe_ja(record: Record) -> str:
    return f"{record.starts}戦{record.top3}回3着以内"


_FACTS: Final[Mapping[Factor, Callable[[Figures, WeightedMean], _Texts]]] = {
    "speed": _speed,
    "trend": _trend,
    "distance": _gain(lambda figures: figures.at_distance, "at similar distances", "近い距離"),
    "surface": _gain(lambda figures: figures.on_surface, "on this surface", "同じ種別の馬場"),
    "going": _gain(lambda figures: figures.on_going, "on similar going", "似た馬場状態"),
    "course": _gain(lambda figures: figures.on_course, "on this course", "このコース"),
    "finishing": _finishing,
    "class": _class,
    "carried": _carried,
    "body": _body,
    "rest": _rest,
    "jockey": _jockey,
    "jockey_course": _jockey_course,
    "sire": _sire,
}
