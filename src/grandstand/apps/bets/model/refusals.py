"""Kept here: what facts, predictions and user models are refused for, each with the reason.

InvalidInput   NaiveMoment CrookedColumns UnmatchedOutcome UserModelRefused PlanRefused
NotFound       UnknownGame
Conflict       TooLate FromTheFuture
"""

from __future__ import annotations

from datetime import datetime

from grandstand.base.errors import Conflict, InvalidInput, NotFound


class NaiveMoment(InvalidInput):
    """A moment without a zone cannot be put in order with others."""

    def __init__(self, moment: datetime) -> None:
        super().__init__(f"{moment.isoformat()} names no zone: give every moment with its offset")


class CrookedColumns(InvalidInput):
    """The columns of a path of prices do not make rows."""

    def __init__(self, game_id: str, book: str, market: str, why: str) -> None:
        super().__init__(f"prices of {game_id} at {book} in {market} cannot be taken: {why}")


class UnmatchedOutcome(InvalidInput):
    """The names in a quote are not the sides of its market."""

    def __init__(self, game_id: str, book: str, market: str, why: str) -> None:
        super().__init__(f"the quote of {game_id} at {book} in {market} cannot be matched: {why}")


class UserModelRefused(InvalidInput):
    """A user model cannot be run as it is described."""


class PlanRefused(InvalidInput):
    """A walk cannot be made as it is planned."""


class UnknownGame(NotFound):
    """A fact speaks of a game that nobody announced."""

    def __init__(self, game_id: str) -> None:
        super().__init__(f"there is no game {game_id}: give its fixture first")


class TooLate(Conflict):
    """A prediction was asked for at or after the start of its game."""

    def __init__(self, game_id: str, as_of: datetime, commence_time: datetime) -> None:
        super().__init__(
            f"{game_id} starts at {commence_time.isoformat()}: there is no prediction of it"
            f" as of {as_of.isoformat()}"
        )


class FromTheFuture(Conflict):
    """A forecast counts on something that was not known at its moment."""

    def __init__(self, row: str, known_at: datetime, as_of: datetime) -> None:
        super().__init__(f"{row} was known at {known_at.isoformat()}, after {as_of.isoformat()}")
