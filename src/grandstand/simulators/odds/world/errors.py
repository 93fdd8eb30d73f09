"""Kept here: what cannot be asked of the simulated leagues."""

from __future__ import annotations

from grandstand.base.errors import InvalidInput, NotFound


class LeagueUnknown(NotFound):
    """There is no league of that key."""

    def __init__(self, sport: str, known: tuple[str, ...]) -> None:
        super().__init__(f"there is no league {sport}: choose one of {', '.join(known)}")


class SeasonTooShort(InvalidInput):
    """A season needs at least one game, and a path at least two prices."""
