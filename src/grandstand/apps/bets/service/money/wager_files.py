"""Kept here: bets as people write them: in a form, or a line of a CSV file each."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Final, get_args

from grandstand.apps.bets.model import slug
from grandstand.apps.bets.model.errors import SelectionImpossible
from grandstand.apps.bets.model.selections import MARKETS, Market, Selection, Side, is_prop
from grandstand.apps.bets.service.money_values import WagerDraft
from grandstand.apps.bets.service.refusals import FileRefused

COLUMNS: Final = ("game_id", "market", "side", "price", "stake")
OPTIONAL: Final = ("point", "participant", "bookmaker", "placed_at", "note", "token")
_MOST_BYTES: Final = 2_000_000
_MOST_DIGITS: Final = 9
_CENTS: Final = 100


def selection_of(draft: WagerDraft) -> Selection:
    """Answer what a bet is on; raise SelectionImpossible."""
    side = next((each for each in get_args(Side) if each == draft.side), None)
    if side is None:
        message = f"{draft.side!r} is no side: give home, away, draw, over or under"
        raise SelectionImpossible(message)
    if is_prop(draft.market_key):
        return Selection(
            "prop", side, draft.point, slug(draft.participant or "") or None, draft.market_key
        )
    market: Market | None = next((each for each in MARKETS if each == draft.market_key), None)
    if market is None:
        message = f"{draft.market_key!r} is no market: give {', '.join(MARKETS)} or a player's"
        raise SelectionImpossible(message)
    return Selection(market, side, draft.point, draft.participant or None)


def drafts_of(content: bytes) -> Iterator[tuple[int, WagerDraft | str]]:
    """Answer the bets of a CSV file by line, or why a line is none; raise FileRefused.

    The same line always has the same token, so that it is recorded once.
    """
    if len(content) > _MOST_BYTES:
        message = f"The file has {len(content)} bytes; {_MOST_BYTES} are taken"
        raise FileRefused(message)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise FileRefused("The file is not UTF-8 text") from fault
    names, rows = _read(text)
    missing = [name for name in COLUMNS if name not in names]
    strange = [name for name in names if name not in {*COLUMNS, *OPTIONAL}]
    if missing or strange:
        message = (
            f"The first line names the columns {', '.join(COLUMNS)}, and may name "
            f"{', '.join(OPTIONAL)}; missing: {', '.join(missing) or 'none'}, "
            f"not known: {', '.join(strange) or 'none'}"
        )
        raise FileRefused(message)
    for number, cells in rows:
        try:
            yield number, _draft(dict(zip(names, cells, strict=False)))
        except (ValueError, InvalidOperation) as fault:
            yield number, str(fault)


def _read(text: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Answer the names of the columns and every line that is not blank, by its number."""
    reader = csv.reader(io.StringIO(text, newline=None), strict=True)
    try:
        names = [name.strip().lower() for name in next(reader, [])]
        return names, [(reader.line_num, cells) for cells in reader if any(cells)]
    except csv.Error as fault:
        raise FileRefused(f"The file is no CSV at line {reader.line_num}: {fault}") from fault


def _draft(row: dict[str, str]) -> WagerDraft:
    cell = dict.fromkeys(COLUMNS, "") | {name: value.strip() for name, value in row.items()}
    placed = cell.get("placed_at", "")
    return WagerDraft(
        game_id=cell["game_id"],
        market_key=cell["market"],
        side=cell["side"].lower(),
        price=_price(cell["price"]),
        stake_cents=_stake(cell["stake"]),
        point=_decimal("point", cell["point"]) if cell.get("point") else None,
        bookmaker=cell.get("bookmaker", ""),
        placed_at=_moment(placed) if placed else None,
        note=cell.get("note", ""),
        participant=cell.get("participant") or None,
        token=cell.get("token") or "|".join(cell.get(name, "") for name in (*COLUMNS, *OPTIONAL)),
    )


def _price(text: str) -> int:
    try:
        return int(text)
    except ValueError as fault:
        message = f"price {text!r} is no American price"
        raise ValueError(message) from fault


def _stake(text: str) -> int:
    cents = _decimal("stake", text.lstrip("$")) * _CENTS
    if cents != int(cents):
        message = f"stake {text!r} is no whole number of cents"
        raise ValueError(message)
    return int(cents)


def _decimal(name: str, text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation as fault:
        message = f"{name} {text!r} is no number"
        raise ValueError(message) from fault
    if not value.is_finite() or abs(value.adjusted()) > _MOST_DIGITS:
        message = f"{name} {text!r} is no number that can be bet"
        raise ValueError(message)
    return value


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as fault:
        message = f"placed_at {text!r} is no moment: write 2026-02-11T14:00:00Z"
        raise ValueError(message) from fault
    if moment.tzinfo is None:
        message = f"placed_at {text!r} has no zone: end it with Z"
        raise ValueError(message)
    return moment.astimezone(UTC)
