"""Kept here: reading figures, and checking the sums an answer states."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isclose
from typing import Final

# Every repetition has an end: what a figure may be followed by is tried from each of its digits.
_DIGITS: Final = r"\d[\d,]{0,24}"
_DECIMAL: Final = rf"{_DIGITS}(?:\.\d{{1,12}})?"
_GAP: Final = r"\s{0,4}"
_SPACE: Final = r"\s{1,4}"
_NUMBER: Final = (
    rf"[$£€¥]?({_DECIMAL}){_GAP}"
    r"(%|percent\b|k\b|m\b|million\b|billion\b|thousand\b)?"
)
_FIGURE: Final = re.compile(_NUMBER, re.IGNORECASE)
_UNIT: Final = rf"(?:{_SPACE}[a-z]{{1,30}}){{0,2}}?"
_ABOUT: Final = rf"(?:(?:about|roughly|around|only|just){_SPACE})?"
_IS: Final = rf"{_GAP}(?:=|≈|~|\b(?:is|are|equals|gives|makes|comes to)\b){_GAP}{_ABOUT}"
_MINUS: Final = "\N{MINUS SIGN}"
_BY: Final = rf"([+\-{_MINUS}–×*x/÷]|\b(?:times|plus|minus|divided by)\b)"
_PLAIN: Final = re.compile(
    rf"{_NUMBER}{_UNIT}{_GAP}{_BY}{_GAP}{_NUMBER}{_UNIT}{_IS}{_NUMBER}",
    re.IGNORECASE,
)
_SHARE: Final = re.compile(
    rf"({_DECIMAL}){_GAP}(?:%|percent) of{_SPACE}(?:the{_SPACE}|all{_SPACE})?"
    rf"{_NUMBER}{_UNIT}{_IS}{_NUMBER}",
    re.IGNORECASE,
)
_OUT_OF: Final = re.compile(
    rf"(?<![\d.,])({_DIGITS}){_SPACE}(?:out{_SPACE})?of{_SPACE}(?:the{_SPACE})?({_DIGITS}){_UNIT}"
    rf"(?:{_GAP}[,(]{_GAP}(?:or|so|which is|i\.e\.)?{_GAP}{_ABOUT}|{_IS})"
    rf"(\d{{1,12}}(?:\.\d{{1,12}})?){_GAP}(?:%|percent)",
    re.IGNORECASE,
)
_OPERATORS: Final = f"+-{_MINUS}–×*/÷=≈√^"
_SCALES: Final = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "billion": 1e9}
_FEWEST_FIGURES: Final = 3
_NEAR: Final = 0.04
_WHOLE: Final = 100.0


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum as it was stated, where it stands, and whether it holds."""

    start: int
    end: int
    holds: bool


def figures_of(text: str) -> frozenset[float]:
    """Answer the figures of a text: `1,200`, `30%`, `$2 million`."""
    return frozenset(
        value for match in _FIGURE.finditer(text) if (value := _value(*match.groups())) is not None
    )


def sums_of(text: str) -> Iterator[Sum]:
    """Find sums that are written out, and try them; rounding is forgiven."""
    if len(_FIGURE.findall(text)) < _FEWEST_FIGURES:
        return
    for match in _PLAIN.finditer(text):
        yield from _tried(match, _plain(match))
    for match in _SHARE.finditer(text):
        share, whole = _value(match[1], None), _value(match[2], match[3])
        told = _value(match[4], match[5])
        if share is not None and whole is not None and told is not None:
            yield from _tried(match, (share / _WHOLE * whole, told))
    for match in _OUT_OF.finditer(text):
        part, whole, told = (_value(match[at], None) for at in (1, 2, 3))
        if part is not None and whole and told is not None:
            yield from _tried(match, (part / whole * _WHOLE, told))


def _plain(match: re.Match[str]) -> tuple[float, float] | None:
    left, right, told = (_value(match[at], match[at + 1]) for at in (1, 4, 6))
    if left is None or right is None or told is None:
        return None
    if match[2] == "%" and match[5] == "%" and match[7] != "%" and match[3] in "×*x":
        return left * right / _WHOLE / _WHOLE, told
    if (match[2] == "%") != (match[5] == "%") and match[7] != "%":
        left, right = (left / _WHOLE, right) if match[2] == "%" else (left, right / _WHOLE)
    match match[3].lower():
        case "+" | "plus":
            made = left + right
        case "-" | "\N{MINUS SIGN}" | "–" | "minus":
            made = left - right
        case "/" | "÷" | "divided by":
            if not right:
                return None
            made = left / right * (_WHOLE if match[7] == "%" and match[2] != "%" else 1)
        case _:
            made = left * right
    return made, told


def _tried(match: re.Match[str], both: tuple[float, float] | None) -> Iterator[Sum]:
    if both is not None and not _is_part(match):
        made, told = both
        holds = isclose(made, told, rel_tol=_NEAR, abs_tol=0.51 if abs(made) >= 5 else 0.06)  # noqa: PLR2004 - rounding to whole numbers, or to tenths when small
        yield Sum(match.start(), match.end(), holds)


def _is_part(match: re.Match[str]) -> bool:
    """Whether it is cut out of a longer sum, which is not tried."""
    before = match.string[: match.start()].rstrip()[-1:]
    after = match.string[match.end() :].lstrip()[:1]
    return (before != "" and before in _OPERATORS) or (after != "" and after in _OPERATORS)


def _value(digits: str | None, scale: str | None) -> float | None:
    if digits is None:
        return None
    try:
        plain = float(digits.replace(",", ""))
    except ValueError:
        return None
    return plain * _SCALES.get((scale or "").lower(), 1.0)
