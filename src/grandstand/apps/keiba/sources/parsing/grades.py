"""Kept here: the grade of a race, from the icon beside its name or the name itself."""

from __future__ import annotations

import re
from typing import Final

from selectolax.lexbor import LexborNode

from grandstand.apps.keiba.sources.reading.page import classes_of
from grandstand.apps.keiba.sources.reading.text import bare

_ICON: Final = "Icon_GradeType"
_ICONS: Final = {
    "1": "G1",
    "2": "G2",
    "3": "G3",
    "5": "OP",
    "10": "JG1",
    "11": "JG2",
    "12": "JG3",
    "15": "L",
    "16": "3勝",
    "17": "2勝",
    "18": "1勝",
    "19": "Jpn1",
    "20": "Jpn2",
    "21": "Jpn3",
}
# NFKC turns the Roman numbers of GI, GII and GIII into letters.
_WRITTEN: Final = re.compile(r"\(?(J・?\.?G|Jpn|G)(III|II|I|[123])\)?(?![A-Za-z0-9])")
_ROMAN: Final = {"I": "1", "II": "2", "III": "3"}


def grade_of(node: LexborNode | None) -> str | None:
    """Answer the grade shown in a node; None for a race without one."""
    if node is None:
        return None
    for icon in node.css("span, em, i"):
        for name in classes_of(icon):
            grade = _ICONS.get(name.removeprefix(_ICON)) if name.startswith(_ICON) else None
            if grade:
                return grade
    return grade_in(node.text())


def grade_in(text: str) -> str | None:
    """Answer the grade written in a name, such as (GIII)."""
    found = _WRITTEN.search(bare(text))
    if found is None:
        return None
    kind = "JG" if found[1].startswith("J") and found[1] != "Jpn" else found[1]
    return f"{kind}{_ROMAN.get(found[2], found[2])}"
