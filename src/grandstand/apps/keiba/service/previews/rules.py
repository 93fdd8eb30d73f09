"""Kept here: the shape of a preview, and the rules that write one without a language model."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, Field

from grandstand.apps.keiba.model.previews import Confidence, Language
from grandstand.apps.keiba.model.reasons import Reason
from grandstand.apps.keiba.service.values import Card, CardRunner, Ranked

_TOP: Final = 5
_CONTENDERS: Final = 3
_NAMED: Final = 2
_CLEAR: Final = 0.1
_HIGH: Final = (0.25, 0.5)
_MEDIUM: Final = 0.12
_OPEN_RACE: Final = 0.2


class Said(BaseModel):
    """What is said of one runner."""

    horse_id: str = Field(max_length=20)
    text: str = Field(max_length=4000)


class Picked(BaseModel):
    """A runner expected in front."""

    horse_id: str = Field(max_length=20)
    reason: str = Field(max_length=2000)
    confidence: Confidence


class Draft(BaseModel):
    """A preview as it is asked for."""

    individual: list[Said] = Field(max_length=40)
    comparison: str = Field(min_length=1, max_length=8000)
    top: list[Picked] = Field(max_length=40)


def by_rules(card: Card, language: Language) -> Draft:
    """Write a preview from the ranking alone; the same card makes the same words."""
    ranked = [(each, each.ranked) for each in card.ranking if each.ranked is not None]
    return Draft(
        individual=[
            Said(horse_id=each.runner.horse_id, text=_individual(each, place, language))
            for each, place in ranked
        ],
        comparison=_comparison(ranked, language),
        top=[
            Picked(
                horse_id=each.runner.horse_id,
                reason=_because(place, language),
                confidence=_confidence(place),
            )
            for each, place in ranked[:_TOP]
        ],
    )


def _confidence(place: Ranked) -> Confidence:
    chance, evidence = _HIGH
    if place.win >= chance and place.evidence >= evidence:
        return "high"
    return "medium" if place.win >= _MEDIUM else "low"


def _individual(each: CardRunner, place: Ranked, language: Language) -> str:
    runs = 0 if each.figures is None else each.figures.runs
    best, worst = _strong(place, 1), _strong(place, -1)
    percent = f"{100 * place.win:.0f}%"
    if language == "ja":
        known = f"近走データは{runs}走分。" if runs else "出走経験のデータがない。"
        plus = f"強み: {_joined(best, language)}" if best else "目立った強みはない。"
        minus = f"弱み: {_joined(worst, language)}" if worst else "目立った弱みはない。"
        return f"評価{place.rank}位、勝率{percent}。{known}{plus}{minus}"
    known = f"Known from {runs} earlier runs." if runs != 1 else "Known from one earlier run."
    known = known if runs else "Nothing is known of earlier runs."
    plus = f"For it: {_joined(best, language)}" if best else "Nothing speaks clearly for it."
    minus = f"Against it: {_joined(worst, language)}" if worst else "Nothing speaks against it."
    return f"Ranked {place.rank} with a chance of {percent}. {known} {plus} {minus}"


def _strong(place: Ranked, sign: int) -> list[Reason]:
    """Answer the reasons that count most one way."""
    told = [one for one in place.reasons if sign * one.points > _CLEAR]
    return sorted(told, key=lambda one: -sign * one.points)[:_NAMED]


def _joined(reasons: list[Reason], language: Language) -> str:
    if language == "ja":
        return "".join(f"{one.label_ja}({one.sentence_ja.rstrip('。')})。" for one in reasons)
    told = [f"{one.label.lower()} ({one.sentence.rstrip('.')})" for one in reasons]
    return f"{'; '.join(told)}."


def _because(place: Ranked, language: Language) -> str:
    best = _strong(place, 1)
    chance = f"{100 * place.win:.0f}%", f"{100 * place.top3:.0f}%"
    if language == "ja":
        why = _joined(best, language) if best else "相手関係の比較による。"
        return f"勝率{chance[0]}、3着以内{chance[1]}。{why}"
    why = _joined(best, language) if best else "It stands here by comparison with the others."
    return f"{chance[0]} to win and {chance[1]} for the first three: {why}"


def _comparison(ranked: list[tuple[CardRunner, Ranked]], language: Language) -> str:
    first, place = ranked[0]
    others = [each.runner.horse_name for each, _ in ranked[1:_CONTENDERS]]
    gap = place.win - (ranked[1][1].win if len(ranked) > 1 else 0.0)
    unknown = [each.runner.horse_name for each, one in ranked if not one.evidence]
    if language == "ja":
        lead = f"{first.runner.horse_name}が勝率{100 * place.win:.0f}%で最上位。"
        then = f"相手は{'、'.join(others)}。" if others else ""
        kind = (
            "混戦で、上位の差は小さい。" if gap < _OPEN_RACE / 2 else "上位評価ははっきりしている。"
        )
        rest = f"データの少ない馬: {'、'.join(unknown)}。" if unknown else ""
        return f"{lead}{then}{kind}{rest}"
    lead = f"{first.runner.horse_name} stands first with a chance of {100 * place.win:.0f}%."
    then = f" Next come {' and '.join(others)}." if others else ""
    kind = " It is an open race." if gap < _OPEN_RACE / 2 else " The lead is clear."
    rest = f" Little is known of {', '.join(unknown)}." if unknown else ""
    return f"{lead}{then}{kind}{rest}"
