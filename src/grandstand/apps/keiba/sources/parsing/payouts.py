"""Kept here: the tables of a result that say what each bet paid."""

from __future__ import annotations

import re
from typing import Final

from selectolax.lexbor import LexborNode

from grandstand.apps.keiba.model.races import Payout
from grandstand.apps.keiba.model.words import Bet
from grandstand.apps.keiba.sources.reading import text
from grandstand.apps.keiba.sources.reading.page import Reading, lines_of
from grandstand.apps.keiba.sources.reading.tables import cells_of, rows_of

# How the site heads a bet, and how many numbers it names.
_BETS: Final[dict[str, tuple[Bet, int]]] = {
    "単勝": ("win", 1),
    "複勝": ("place", 1),
    "枠連": ("bracket_quinella", 2),
    "枠単": ("bracket_exacta", 2),
    "馬連": ("quinella", 2),
    "ワイド": ("wide", 2),
    "馬単": ("exacta", 2),
    "3連複": ("trio", 3),
    "三連複": ("trio", 3),
    "3連単": ("trifecta", 3),
    "三連単": ("trifecta", 3),
}
_YEN: Final = re.compile(r"([0-9]{1,10})円")
_RANK: Final = re.compile(r"([0-9]{1,4})人気")
_NUMBER: Final = re.compile(r"[0-9]{1,2}")


def read_payouts(reading: Reading) -> tuple[Payout, ...]:
    """Answer what each bet paid; a line that does not add up is noted and left out."""
    payouts: list[Payout] = []
    for table in reading.tree.css("table.Payout_Detail_Table"):
        for row in rows_of(table):
            payouts += _payouts(row, reading)
    return tuple(payouts)


def _payouts(row: LexborNode, reading: Reading) -> list[Payout]:
    cells = cells_of(row)
    name = text.bare(cells[0].text()) if cells else ""
    if name not in _BETS:
        return []
    bet, size = _BETS[name]
    numbers = [int(one) for one in _NUMBER.findall(_said(row, "Result", " "))]
    amounts = [int(one) for one in _YEN.findall(_said(row, "Payout", "").replace(",", ""))]
    ranks = [int(one) for one in _RANK.findall(_said(row, "Ninki", " "))]
    if not numbers and not amounts:
        return []
    if len(numbers) != size * len(amounts):
        reading.warn(f"what {name} paid does not agree with its numbers and is left out")
        return []
    return [
        Payout(
            bet,
            tuple(numbers[at * size : (at + 1) * size]),
            amount,
            ranks[at] if len(ranks) == len(amounts) else None,
        )
        for at, amount in enumerate(amounts)
    ]


def _said(row: LexborNode, name: str, between: str) -> str:
    cell = row.css_first(f"td.{name}")
    return between.join(lines_of(cell)) if cell else ""
