"""Explanations of the ranking factors in English and Japanese."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from grandstand.apps.keiba.domain.form import Figures, Record, WeightedMean
from grandstand.apps.keiba.domain.ranking import Contribution, Factor

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
