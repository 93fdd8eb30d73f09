"""Kept here: the steps of class of Japanese races, read from names, grades and prize money."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final

from grandstand.apps.keiba.model.people import PastRun
from grandstand.apps.keiba.model.races import RaceCard

# From newcomers to the first grade. Until 2019 classes were named by earnings in units of ten
# thousand yen, since then by wins.
_STEP: Final = re.compile(
    r"(?P<c8>\b(?:G|JPN)(?:I|1)\b)|(?P<c7>\b(?:G|JPN)(?:II|2)\b)|(?P<c6>\b(?:G|JPN)(?:III|3)\b)"
    r"|(?P<c5>オープン|\(L\)|\(OP\)|^L$|^OP$)|(?P<c4>3勝|1600万)|(?P<c3>2勝|1000万|900万)"
    r"|(?P<c2>1勝|500万)|(?P<c1>未勝利)|(?P<c0>新馬|メイクデビュー)"
)

# First prizes in units of ten thousand yen from which the classes 1 to 8 begin, set between the
# customary prizes of JRA: maidens win about 550, then 800, 1140, 1840, 2400, 4000, 6000, 10000.
_FROM_PRIZE: Final = (450, 680, 960, 1450, 2100, 3500, 5000, 8000)

# What the second to fifth get of the first prize.
_SHARES: Final = (Decimal(1), Decimal("0.4"), Decimal("0.25"), Decimal("0.15"), Decimal("0.1"))


def class_of_run(run: PastRun) -> int | None:
    """The step of an earlier race, 0 for newcomers to 8 for the first grade; None if unknown.

    Its name tells, or else the prize of a horse among the first five.
    """
    named = _step(run.race_name)
    if named is not None or run.prize is None or run.position is None or run.prize <= 0:
        return named
    if not 1 <= run.position <= len(_SHARES):
        return None
    return _from_prize(run.prize / _SHARES[run.position - 1])


def class_of_card(card: RaceCard) -> int | None:
    """The step of a race on its card, from its grade, class or name, or else its first prize."""
    named = _from_words((card.grade, card.race_class, card.race_name))
    if named is not None or not card.prize_money:
        return named
    return _from_prize(card.prize_money[0])


def _from_words(texts: Sequence[str | None]) -> int | None:
    return next((step for text in texts if text and (step := _step(text)) is not None), None)


# A card of eighteen names some seven hundred races, most of them a few names again and again.
@lru_cache(maxsize=4096)
def _step(text: str) -> int | None:
    found = _STEP.search(unicodedata.normalize("NFKC", text).upper())
    return int(found.lastgroup[1:]) if found is not None and found.lastgroup else None


def _from_prize(first_prize: Decimal) -> int:
    return bisect_right(_FROM_PRIZE, first_prize)
