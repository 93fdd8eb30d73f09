"""Kept here: the factors of the ranking in words: a label and a sentence each, in two languages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from grandstand.apps.keiba.model.background import Record
from grandstand.apps.keiba.model.circumstances import Mean
from grandstand.apps.keiba.model.form import Figures
from grandstand.apps.keiba.model.rating import Contribution
from grandstand.apps.keiba.model.weights import Factor

_Pair: TypeAlias = tuple[str, str]

LABELS: Final[Mapping[Factor, _Pair]] = {
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
"""What each factor is called, in English and in Japanese."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a factor counts as it does for one runner, in English and in Japanese."""

    factor: Factor
    points: float
    label: str
    label_ja: str
    sentence: str
    sentence_ja: str


def reason(figures: Figures, contribution: Contribution) -> Reason:
    """A contribution in words: what was read, and how it compares with the field."""
    label, label_ja = LABELS[contribution.factor]
    if contribution.reading is None:
        said = "Nothing is known, so it counts as the mean of the field."
        said_ja = "データなし。出走馬の平均とみなす。"
    else:
        fact, fact_ja = _FACTS[contribution.factor](figures, contribution.reading)
        verdict, verdict_ja = _verdict(contribution.points)
        said, said_ja = f"{fact}: {verdict}.", f"{fact_ja}。{verdict_ja}。"
    return Reason(contribution.factor, contribution.points, label, label_ja, said, said_ja)


def _verdict(points: float) -> _Pair:
    tenths = round(points, 1)
    if tenths > 0:
        return f"{tenths:.1f} points for it", f"{tenths:.1f}点のプラス"
    if tenths < 0:
        return f"{-tenths:.1f} points against it", f"{-tenths:.1f}点のマイナス"
    return "no points either way", "増減なし"


def _speed(figures: Figures, reading: Mean) -> _Pair:
    runs = len(figures.speeds)
    return (
        f"{_counted(runs, 'timed run')}, on average {_against(reading.value, 'standard')}",
        f"計時{runs}走の平均は基準比{reading.value:+.1f}",
    )


def _trend(_figures: Figures, reading: Mean) -> _Pair:
    return (
        f"The last run was {_against(reading.value, 'the ones before')}",
        f"前走はそれ以前の近走と比べ{reading.value:+.1f}",
    )


def _gain(
    record: Callable[[Figures], Record], where: str, where_ja: str
) -> Callable[[Figures, Mean], _Pair]:
    def fact(figures: Figures, reading: Mean) -> _Pair:
        seen = record(figures)
        return (
            f"{_shown(seen)} {where}, expected {_against(reading.value, 'its own mean')}",
            f"{where_ja}では{_shown_ja(seen)}、自身の平均比で{reading.value:+.1f}の見込み",
        )

    return fact


def _finishing(figures: Figures, reading: Mean) -> _Pair:
    share = round(100 * reading.value)
    return (
        f"Beat {share}% of its rivals in {_counted(figures.runs, 'run')}",
        f"{figures.runs}走で相手の{share}%に先着",
    )


def _class(_figures: Figures, reading: Mean) -> _Pair:
    step = -reading.value
    way, way_ja = ("up", "昇級") if step > 0 else ("down", "降級")
    if not round(step, 1):
        return "Stays in its class", "同クラス"
    return (
        f"Moves {way} {abs(step):.1f} classes against earlier runs",
        f"これまで比で{abs(step):.1f}段階の{way_ja}",
    )


def _carried(_figures: Figures, reading: Mean) -> _Pair:
    return (
        f"Carries {-reading.value:+.1f} kg against earlier runs",
        f"斤量はこれまで比{-reading.value:+.1f}キロ",
    )


def _body(figures: Figures, _reading: Mean) -> _Pair:
    change = figures.body_weight_change or 0
    return f"Body weight {change:+d} kg since its last run", f"馬体重は前走比{change:+d}キロ"


def _rest(figures: Figures, _reading: Mean) -> _Pair:
    days = figures.days_since_last_run or 0
    return f"Last ran {_counted(days, 'day')} ago", f"前走から{days}日"


def _jockey(_figures: Figures, reading: Mean) -> _Pair:
    rate, rides = 100 * reading.value, round(reading.weight)
    return (
        f"The jockey was placed in {rate:.1f}% of {_counted(rides, 'ride')}",
        f"騎手の複勝率は{rides}騎乗で{rate:.1f}%",
    )


def _jockey_course(figures: Figures, reading: Mean) -> _Pair:
    seen = figures.jockey_on_course
    return (
        f"The jockey here: {_shown(seen)}, {100 * reading.value:+.1f}% against all courses",
        f"騎手はこのコースで{_shown_ja(seen)}、全コース比{100 * reading.value:+.1f}%",
    )


def _sire(figures: Figures, reading: Mean) -> _Pair:
    rate, starts = 100 * reading.value, figures.sire.starts
    return (
        f"Its sire's offspring on this surface: placed in {rate:.1f}% of {starts} starts",
        f"父の産駒はこの馬場で{starts}走、複勝率{rate:.1f}%",
    )


def _against(points: float, what: str) -> str:
    if not round(points, 1):
        return f"level with {what}"
    way = "above" if points > 0 else "below"
    return f"{abs(points):.1f} points {way} {what}"


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _shown(record: Record) -> str:
    return f"{_counted(record.starts, 'run')} with {record.top3} among the first three"


def _shown_ja(record: Record) -> str:
    return f"{record.starts}戦{record.top3}回3着以内"


_FACTS: Final[Mapping[Factor, Callable[[Figures, Mean], _Pair]]] = {
    "speed": _speed,
    "trend": _trend,
    "distance": _gain(lambda figures: figures.at_distance, "at such a distance", "近い距離"),
    "surface": _gain(lambda figures: figures.on_surface, "on this surface", "同じ種別の馬場"),
    "going": _gain(lambda figures: figures.on_going, "on such going", "似た馬場状態"),
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
