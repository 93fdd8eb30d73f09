"""Kept here: what all pages share: the document around a body, addresses, numbers in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from grandstand.simulators.racing.tracks import Circuit

_MYRIAD: Final = 10_000


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the three hosts of the site are reached."""

    race: str
    nar: str
    db: str

    def of(self, circuit: Circuit) -> str:
        """Answer the host that shows a circuit's races."""
        return self.race if circuit == "jra" else self.nar


def document(title: str, body: str, encoding: str) -> str:
    """Answer a whole page that says how it is encoded."""
    return (
        f'<!DOCTYPE html>\n<html lang="ja">\n<head>\n<meta charset="{encoding}">\n'
        f"<title>{title}</title>\n<script>var simulated = 1 < 2;</script>\n</head>\n"
        f'<body>\n<div id="page">\n{body}\n</div>\n</body>\n</html>\n'
    )


def money(prize: float) -> str:
    """Answer units of ten thousand yen in words, with hundreds of millions apart."""
    large, rest = divmod(prize, _MYRIAD)
    shown = f"{rest:,.0f}" if rest == int(rest) else f"{rest:,.1f}"
    return f"{large:.0f}億{shown}万円" if large else f"{shown}万円"
