"""Kept here: the eight dimensions, what each level of them means, and the overall score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Final

RUBRIC_VERSION: Final = "1"
MOST: Final = 4
_HALF: Final = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Dimension:
    """One way in which thinking can be good, its weight in tenths, and its levels from 0 to 4."""

    name: str
    title: str
    weight_tenths: int
    asks: str
    levels: tuple[str, str, str, str, str]
    exercise: str


DIMENSIONS: Final = (
    Dimension(
        "clarity",
        "Clarity",
        12,
        "Is the position plain, and are its terms fixed?",
        (
            "No position can be made out.",
            "A position is hinted at, but its terms shift or stay vague.",
            "The position can be followed with effort; some terms are left open.",
            "The position is plain and its main terms are fixed; small ambiguities remain.",
            "The position is stated early and exactly, and every term that matters is pinned down.",
        ),
        "Define the three words your next answer leans on most before you use them.",
    ),
    Dimension(
        "relevance",
        "Relevance",
        10,
        "Does it answer what was asked, and dwell on what matters?",
        (
            "It does not answer the question.",
            "It touches the subject but answers another question.",
            "It answers part of the question, or spends itself on side issues.",
            "It answers the whole question with little that does not bear on it.",
            "It answers every part, and gives the most room to what decides the matter.",
        ),
        "Say in one line what would count as an answer, then strike what does not serve it.",
    ),
    Dimension(
        "logic",
        "Logic",
        15,
        "Do the conclusions follow?",
        (
            "There is no reasoning, or it contradicts itself.",
            "Reasons are claimed, but the conclusion does not follow from them.",
            "Some steps hold; others leap or rest on a fallacy.",
            "The steps follow, with a small gap or two.",
            "Every step follows, conditions are stated, and the weakest link is named.",
        ),
        "Draw the argument as a map of claims and reasons, and test each arrow.",
    ),
    Dimension(
        "evidence",
        "Evidence",
        13,
        "Are claims tied to facts, and are the facts weighed?",
        (
            "Nothing is offered in support.",
            "Support is asserted, not shown.",
            "Some claims have facts behind them; their quality is not asked about.",
            "The main claims rest on facts from the case, and their limits are mentioned.",
            "Facts are cited exactly, weighed for quality, and what is missing is named.",
        ),
        "For each claim write down what you would show a sceptic, and how good that source is.",
    ),
    Dimension(
        "assumptions",
        "Assumptions",
        12,
        "Is what is taken for granted brought to light and tested?",
        (
            "Nothing taken for granted is noticed.",
            "An assumption is mentioned in passing.",
            "One or two assumptions are named but not examined.",
            "The main assumptions are named, with what happens if they fail.",
            "Hidden assumptions are found, ranked by weight, and a test for each is proposed.",
        ),
        "List five things that must be true for the claim to hold, then try to break each.",
    ),
    Dimension(
        "alternatives",
        "Alternatives",
        12,
        "Are other explanations and choices given a fair hearing?",
        (
            "Only one view is seen.",
            "Another view is mentioned and waved away.",
            "An alternative is described, but not compared.",
            "Two or more alternatives are compared with reasons.",
            "The strongest rivals are put at their best, compared, and what would decide is said.",
        ),
        "Argue the opposite side for five minutes as its ablest advocate would.",
    ),
    Dimension(
        "quantitative-reasoning",
        "Quantitative reasoning",
        8,
        "Are numbers used where they count, and used rightly?",
        (
            "Numbers are needed and missing, or plainly wrong.",
            "Numbers are repeated without use.",
            "Numbers are used, but a base rate, unit or comparison is missed.",
            "Numbers are compared rightly, or rightly left out.",
            "Sizes are estimated, base rates and uncertainty are reckoned with, and the sums hold.",
        ),
        "Make a rough estimate with stated factors, then bound it from both sides.",
    ),
    Dimension(
        "humility-uncertainty",
        "Humility and uncertainty",
        10,
        "Is confidence in keeping with what is known?",
        (
            "Certainty is claimed throughout, or nothing is committed to.",
            "A stock phrase stands for doubt.",
            "Doubt is voiced, but not tied to anything in particular.",
            "How sure one can be is said for the main claims, and why.",
            "Confidence is graded claim by claim, with what would change one's mind.",
        ),
        "Put a probability on three claims this week and check them when the answer comes in.",
    ),
)

NAMES: Final = tuple(dimension.name for dimension in DIMENSIONS)
BY_NAME: Final[Mapping[str, Dimension]] = {each.name: each for each in DIMENSIONS}
_ALL_TENTHS: Final = sum(dimension.weight_tenths for dimension in DIMENSIONS)


def overall_score(scores: Mapping[str, int]) -> int:
    """Answer the weighted mean of all eight scores out of 100, halves rounded up."""
    weighted = sum(each.weight_tenths * scores[each.name] for each in DIMENSIONS)
    return floor(Fraction(weighted * 100, _ALL_TENTHS * MOST) + _HALF)
