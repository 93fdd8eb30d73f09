"""Signals of evidence, assumptions, alternatives, quantitative reasoning and humility."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from grandstand.apps.trainer.domain.signals.arithmetic import find_sums, parse_figures
from grandstand.apps.trainer.domain.signals.passages import Sentence
from grandstand.apps.trainer.domain.signals.scoring import (
    MIN_READABLE_WORDS,
    AnswerText,
    DimensionTally,
    TallyBuilder,
    match_points,
    start_tally,
    subtract_overclaims,
)

_MENTION_CAP: Final = 1.4
_NOTHING_CAP: Final = 0.9
_WRONG_SUM_POINTS: Final = -1.0
_WRONG_SUM_CAP: Final = 2.4
_FIGURE_ENDS: Final = "0123456789%"


def score_evidence(answer: AnswerText) -> DimensionTally:
    """Tally facts and numbers of the case behind claims, and doubts about their quality."""
    tally = start_tally(answer, 0.7)
    parsed = answer.parsed
    if parsed.words >= MIN_READABLE_WORDS:
        tally.add("claim", 0.3, "It discusses the facts of the case", parsed.counted[0])
    cited = [
        each
        for each in _with_figures(answer)
        if parse_figures(parsed.sentence_text(each)) & answer.topic.figures
    ]
    tally.add_each("figure", [0.25, 0.15, 0.1], "It uses a number from the case", cited)
    reasons = answer.sentences_with("reason")
    tally.add_each("reason", [0.1, 0.05], "It supports a claim", reasons)
    scrutiny = answer.sentences_with("scrutiny")
    text = "It questions the quality of the evidence"
    tally.add_each("scrutiny", [0.15, 0.1, 0.1], text, scrutiny)
    support = answer.sentences_with("support")
    tally.add_each("support", [0.1, 0.05], "It names a source or an example", support)
    subtract_overclaims(tally, answer, 0.4)
    tally.cap_without("figure", "reason", "scrutiny", "support", cap=_MENTION_CAP)
    tally.suggest("exact facts or numbers from the case", unless=bool(cited))
    tally.suggest("how good the evidence is, and what is missing", unless=len(scrutiny) > 1)
    return tally.build()


def score_assumptions(answer: AnswerText) -> DimensionTally:
    """Tally named assumptions, and what happens if they fail."""
    tally = start_tally(answer, 0.55)
    named = answer.sentences_with("assumption")
    tally.add_each("named", [0.8, 0.6, 0.4], "It names an assumption", named)
    found = [sentence for _, sentence in match_points(answer.parsed, answer.topic.assumptions)]
    tally.add_each("point", [0.2, 0.15], "It finds an assumption the case rests on", found)
    probed = _near(answer, named + found, "probe", "condition")
    text = "It says what follows if the assumption fails, or how to test it"
    tally.add_each("probe", [0.25, 0.15], text, probed)
    conditions = answer.sentences_with("condition", "probe")
    tally.add_each("condition", [0.2, 0.2, 0.15], "It says what a claim depends on", conditions)
    subtract_overclaims(tally, answer, 0.35)
    tally.cap_without("named", "point", "condition", cap=_NOTHING_CAP)
    tally.cap_without("named", "point", cap=_MENTION_CAP)
    tally.suggest("the hidden assumptions", unless=len(named) > 1)
    tally.suggest("what happens if they fail, or a test of each", unless=len(probed) > 1)
    return tally.build()


def score_alternatives(answer: AnswerText) -> DimensionTally:
    """Tally other explanations and choices, with reasons and comparisons."""
    tally = start_tally(answer, 0.8)
    named = answer.sentences_with("alternative")
    tally.add_each("named", [0.35, 0.2, 0.1], "It presents another view or choice", named)
    found = [sentence for _, sentence in match_points(answer.parsed, answer.topic.alternatives)]
    text = "It finds an alternative that has to be answered"
    tally.add_each("point", [0.1, 0.1], text, found)
    weighed = answer.sentences_with("weighing")
    tally.add_each("weighing", [0.1, 0.1], "It compares views", weighed)
    reasoned = _near(answer, named + found, "reason", "consequence", "contrast", "condition")
    tally.add_each("reason", [0.05, 0.05], "It gives a reason for an alternative", reasoned)
    subtract_overclaims(tally, answer, 0.4)
    tally.cap_without("named", "point", "weighing", cap=_MENTION_CAP)
    tally.suggest("at least two alternatives at their best", unless=len(named) > 1)
    tally.suggest("what would decide between them", unless=bool(weighed))
    return tally.build()


def score_quantity(answer: AnswerText) -> DimensionTally:
    """Tally numbers used and compared, base rates, and correct arithmetic."""
    tally = start_tally(answer, 0.8)
    figured = _with_figures(answer)
    tally.add_each("figure", [0.1, 0.1], "It uses a number", figured)
    key = len(answer.depth.figures & answer.topic.key_figures)
    tally.add("key", min(0.2, 0.05 * key), "It uses numbers that decide the matter")
    compared = [each for each in figured if "comparison" in each.families]
    tally.add_each("comparison", [0.1, 0.05], "It compares numbers", compared)
    measured = answer.sentences_with("measure")
    text = "It considers a rate, base or denominator"
    tally.add_each("measure", [0.2, 0.15], text, measured)
    worked_out = len(answer.depth.worked_out)
    text = "It calculates numbers instead of repeating them"
    tally.add("worked", min(0.2, 0.05 * worked_out), text)
    subtract_overclaims(tally, answer, 0.35)
    _check_sums(tally, answer)
    tally.cap_without("figure", cap=_NOTHING_CAP)
    tally.suggest("use of the numbers in the case", unless=bool(figured))
    tally.suggest("a base rate, denominator or comparison", unless=bool(measured))
    tally.suggest("a calculation, with its uncertainty", unless=worked_out > 1)
    return tally.build()


def score_humility(answer: AnswerText) -> DimensionTally:
    """Tally doubt tied to claims, degrees of confidence, and what would change the view."""
    tally = start_tally(answer, 0.6)
    hedged = [each for each in answer.sentences_with("hedge") if each.topic_stems]
    tally.add_each("hedge", [0.25, 0.2, 0.15], "It states a claim with caution", hedged)
    graded = answer.sentences_with("grading")
    tally.add_each("grading", [0.3, 0.2, 0.1], "It states a degree of confidence", graded)
    revisions = answer.sentences_with("revision")
    tally.add_each("revision", [0.5, 0.4], "It says what would change this view", revisions)
    limits = answer.sentences_with("scrutiny")
    tally.add_each("limits", [0.1, 0.05], "It sees the limits of what is known", limits)
    subtract_overclaims(tally, answer, 0.4)
    tally.cap_without("hedge", "grading", "revision", cap=_NOTHING_CAP)
    tally.suggest("how sure you are of each main claim", unless=bool(graded))
    tally.suggest("what would change your mind", unless=bool(revisions))
    return tally.build()


def _check_sums(tally: TallyBuilder, answer: AnswerText) -> None:
    for sentence in _with_figures(answer):
        for stated in find_sums(answer.parsed.sentence_text(sentence)):
            if stated.is_correct:
                tally.add("sum", 0.2, "The calculation is correct", sentence)
            else:
                tally.add("wrong sum", _WRONG_SUM_POINTS, "The calculation is wrong", sentence)
                tally.cap = min(tally.cap, _WRONG_SUM_CAP)


def _with_figures(answer: AnswerText) -> list[Sentence]:
    return [
        each
        for each in answer.parsed.counted
        if any(token.word[-1] in _FIGURE_ENDS for token in each.tokens)
    ]


def _near(answer: AnswerText, sentences: Sequence[Sentence], *families: str) -> list[Sentence]:
    """Return the sentences with these families that are among `sentences` or follow one."""
    starts = {each.start for each in sentences}
    counted = answer.parsed.counted
    return [
        each
        for at, each in enumerate(counted)
        if not each.families.isdisjoint(families)
        and any(near.start in starts for near in counted[max(0, at - 1) : at + 1])
    ]
