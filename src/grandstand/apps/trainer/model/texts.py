"""Kept here: counting the words of an answer, the same everywhere."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+(?:['’\-.,][^\W_]+)*")


def word_count(text: str) -> int:
    """Answer how many words a text has: runs of letters and digits, `1,200` and `don't` as one."""
    return len(_WORD.findall(text))
