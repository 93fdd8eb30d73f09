"""Kept here: signals of evidence, assumptions, alternatives, quantity and doubt: what is said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from grandstand.apps.trainer.model.signals.depth import matched
from grandstand.apps.trainer.model.signals.expression import (
    LEAST_READABLE,
    Sight,
    begun,
    overclaimed,
)
from grandstand.apps.trainer.model.signals.passages import Passage
from grandstand.apps.trainer.model.signals.sums import figures_of, sums_of
from grandstand.apps.trainer.model.signals.tally import Tally, Tallying

_NEIGHBOURS: Final = 1
_TOKEN_MENTION: Final = 1.4
_NOTHING_SHOWN: Final = 0.9
_WRONG_SUM: Final = -1.0
_WRONG_SUM_CAP: Final = 2.4
_FIGURE_ENDS: Final = "0123456789%"


def evidence(sight: Sight) -> Tally:
    """Facts and figures of the case behind claims, and questions about how good they are."""
    tally = begun(sight, 0.7)
    if sight.reading.words >= LEAST_READABLE:
        tally.noted("claim", 0.3, "It speaks of the facts of the case", sight.reading.counted[0])
    cited = [
        each
        for each in _with_figures(sight)
        if figures_of(sight.reading.passage(each)) & sight.topic.figures
    ]
    tally.each("figure", [0.25, 0.15, 0.1], "A figure of the case is used", cited)
    reasons = sight.having("reason")
    tally.each("reason", [0.1, 0.05], "A claim has its ground", reasons)
    scrutiny = sight.having("scrutiny")
    tally.each("scrutiny", [0.15, 0.1, 0.1], "The quality of evidence is questioned", scrutiny)
    support = sight.having("support")
    tally.each("support", [0.1, 0.05], "A source or an example is named", support)
    overclaimed(tally, sight, 0.4)
    tally.needs("figure", "reason", "scrutiny", "support", else_at_most=_TOKEN_MENTION)
    tally.wanted("exact facts or figures from the case", unless=bool(cited))
    tally.wanted("how good the evidence is, and what is missing", unless=len(scrutiny) > 1)
    return tally.done()


def assumptions(sight: Sight) -> Tally:
    """What is taken for granted, named, and what happens when it fails."""
    tally = begun(sight, 0.55)
    named = sight.having("assumption")
    tally.each("named", [0.8, 0.6, 0.4], "Something taken for granted is named", named)
    points = matched(sight.reading, sight.topic.assumptions)
    found = [each for _, each in points]
    tally.each("point", [0.2, 0.15], "An assumption the case rests on is found", found)
    probed = _beside(sight, named + found, "probe", "condition")
    tally.each("probe", [0.25, 0.15], "What follows if it fails, or how to test it", probed)
    conditions = sight.having("condition", "probe")
    tally.each("condition", [0.2, 0.2, 0.15], "What it hangs on is said", conditions)
    overclaimed(tally, sight, 0.35)
    tally.needs("named", "point", "condition", else_at_most=_NOTHING_SHOWN)
    tally.needs("named", "point", else_at_most=_TOKEN_MENTION)
    tally.wanted("the hidden assumptions named", unless=len(named) > 1)
    tally.wanted("what happens if they fail, or a test of each", unless=len(probed) > 1)
    return tally.done()


def alternatives(sight: Sight) -> Tally:
    """Other explanations and choices, each with a reason, and weighed."""
    tally = begun(sight, 0.8)
    named = sight.having("alternative")
    tally.each("named", [0.35, 0.2, 0.1], "Another view or choice is put", named)
    points = matched(sight.reading, sight.topic.alternatives)
    found = [each for _, each in points]
    tally.each("point", [0.1, 0.1], "A rival that has to be met is found", found)
    weighed = sight.having("weighing")
    tally.each("weighing", [0.1, 0.1], "Views are compared", weighed)
    reasoned = _beside(sight, named + found, "reason", "consequence", "contrast", "condition")
    tally.each("reason", [0.05, 0.05], "A rival has its reason", reasoned)
    overclaimed(tally, sight, 0.4)
    tally.needs("named", "point", "weighing", else_at_most=_TOKEN_MENTION)
    tally.wanted("at least two rivals at their best", unless=len(named) > 1)
    tally.wanted("what would decide between them", unless=bool(weighed))
    return tally.done()


def quantity(sight: Sight) -> Tally:
    """Figures used, compared, against a base, and sums that hold."""
    tally = begun(sight, 0.8)
    figured = _with_figures(sight)
    tally.each("figure", [0.1, 0.1], "A figure is used", figured)
    key = len(sight.depth.figures & sight.topic.key_figures)
    tally.noted("key", min(0.2, 0.05 * key), "Figures that decide the matter are used")
    compared = [each for each in figured if "comparison" in each.families]
    tally.each("comparison", [0.1, 0.05], "Figures are compared", compared)
    measured = sight.having("measure")
    tally.each("measure", [0.2, 0.15], "A rate, base or denominator is looked at", measured)
    worked = len(sight.depth.worked)
    tally.noted("worked", min(0.2, 0.05 * worked), "Figures are worked out, not just repeated")
    overclaimed(tally, sight, 0.35)
    _check_sums(tally, sight)
    tally.needs("figure", else_at_most=_NOTHING_SHOWN)
    tally.wanted("the figures of the case put to use", unless=bool(figured))
    tally.wanted("a base rate, denominator or comparison", unless=bool(measured))
    tally.wanted("a sum worked out, with its uncertainty", unless=worked > 1)
    return tally.done()


def humility(sight: Sight) -> Tally:
    """Doubt tied to claims, degrees of confidence, and what would change one's mind."""
    tally = begun(sight, 0.6)
    hedged = [each for each in sight.having("hedge") if each.topical]
    tally.each("hedge", [0.25, 0.2, 0.15], "A claim is put with care", hedged)
    graded = sight.having("grading")
    tally.each("grading", [0.3, 0.2, 0.1], "How sure one can be is said", graded)
    open_to = sight.having("revision")
    tally.each("revision", [0.5, 0.4], "What would change this view is said", open_to)
    limits = sight.having("scrutiny")
    tally.each("limits", [0.1, 0.05], "The limits of what is known are seen", limits)
    overclaimed(tally, sight, 0.4)
    tally.needs("hedge", "grading", "revision", else_at_most=_NOTHING_SHOWN)
    tally.wanted("how sure you are of each main claim", unless=bool(graded))
    tally.wanted("what would change your mind", unless=bool(open_to))
    return tally.done()


def _check_sums(tally: Tallying, sight: Sight) -> None:
    for each in _with_figures(sight):
        for tried in sums_of(sight.reading.passage(each)):
            if tried.holds:
                tally.noted("sum", 0.2, "The sum holds", each)
            else:
                tally.noted("wrong sum", _WRONG_SUM, "The sum does not hold", each)
                tally.cap = min(tally.cap, _WRONG_SUM_CAP)


def _with_figures(sight: Sight) -> list[Passage]:
    return [
        each
        for each in sight.reading.counted
        if any(token.word[-1] in _FIGURE_ENDS for token in each.tokens)
    ]


def _beside(sight: Sight, named: Sequence[Passage], *families: str) -> list[Passage]:
    """Answer the sentences of these families that are among the named ones, or follow one."""
    wanted = {each.start for each in named}
    counted = sight.reading.counted
    return [
        each
        for at, each in enumerate(counted)
        if not each.families.isdisjoint(families)
        and any(near.start in wanted for near in counted[max(0, at - _NEIGHBOURS) : at + 1])
    ]
