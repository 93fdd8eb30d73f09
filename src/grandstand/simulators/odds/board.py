"""Kept here: which prices are in force at a moment, for each game, book and market."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from grandstand.simulators.odds.world.laws import Whole
from grandstand.simulators.odds.world.lines import MARKETS
from grandstand.simulators.odds.world.season import Season

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_BOOKS: Final = 128
_KINDS: Final = 8
_PLAYERS: Final = 4096


def stamp(moment: datetime) -> int:
    """Answer a moment as microseconds since 1970."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def moment(stamped: int) -> datetime:
    """Answer the moment of a number of microseconds since 1970, in UTC."""
    return EPOCH + timedelta(microseconds=int(stamped))


@dataclass(frozen=True, slots=True)
class Line:
    """A price in force: its book and market by number, and its sides; props name a player."""

    book: int
    market: str
    captured_us: int
    point: float
    first: int
    second: int
    draw: int = 0
    player: int | None = None


class Board:
    """A season's prices, found by game and moment."""

    def __init__(self, season: Season) -> None:
        quotes, props = season.quotes, season.props
        self._season = season
        keys = (quotes.game.astype(np.int64) * _BOOKS + quotes.book) * _KINDS + quotes.market
        self._order = np.lexsort((quotes.captured_us, keys))
        self._keys = keys[self._order]
        self._captured = quotes.captured_us[self._order]
        keys = (props.game.astype(np.int64) * _BOOKS + props.book) * _KINDS + props.market
        keys = keys * _PLAYERS + props.player
        self._prop_order = np.lexsort((props.captured_us, keys))
        self._prop_keys = keys[self._prop_order]
        self._prop_captured = props.captured_us[self._prop_order]

    def lines(self, game: int, at_us: int) -> list[Line]:
        """Answer the prices of a game's own markets in force at a moment, book by book."""
        found = self._newest(self._keys, self._captured, _BOOKS * _KINDS, (game, at_us))
        quotes = self._season.quotes
        return [
            Line(
                int(quotes.book[row]),
                MARKETS[quotes.market[row]],
                int(quotes.captured_us[row]),
                float(quotes.point[row]),
                int(quotes.first[row]),
                int(quotes.second[row]),
                int(quotes.draw[row]),
            )
            for row in self._order[found].tolist()
        ]

    def prop_lines(self, game: int, at_us: int) -> list[Line]:
        """Answer the prices about the game's players in force at a moment, book by book."""
        width = _BOOKS * _KINDS * _PLAYERS
        found = self._newest(self._prop_keys, self._prop_captured, width, (game, at_us))
        props = self._season.props
        return [
            Line(
                int(props.book[row]),
                props.markets[props.market[row]],
                int(props.captured_us[row]),
                float(props.point[row]),
                int(props.over[row]),
                int(props.under[row]),
                player=int(props.player[row]),
            )
            for row in self._prop_order[found].tolist()
        ]

    @staticmethod
    def _newest(keys: Whole, captured: Whole, width: int, when: tuple[int, int]) -> Whole:
        """Answer the place of the last row of each key of a game that is not after a moment."""
        game, at_us = when
        low, high = np.searchsorted(keys, (game * width, (game + 1) * width))
        shown: Whole = np.flatnonzero(captured[low:high] <= at_us) + low
        if not len(shown):
            return shown
        last = np.append(keys[shown][1:] != keys[shown][:-1], True)
        found: Whole = shown[last]
        return found
