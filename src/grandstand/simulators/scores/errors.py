"""Kept here: what can be wrong with a tape or with what is asked of its player."""

from __future__ import annotations

from grandstand.base.errors import Conflict, InvalidInput, NotFound


class TapeUnreadable(InvalidInput):
    """A file is not a match as it should be written."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} is not a tape: {why}")


class TapeUnknown(NotFound):
    """There is no tape of that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no tape {name}")


class ReplayUnknown(NotFound):
    """No match of that number is being played."""

    def __init__(self, match_id: int | str) -> None:
        super().__init__(f"no match {match_id} is being played")


class AlreadyPlaying(Conflict):
    """A match of that number is being played already."""

    def __init__(self, match_id: int) -> None:
        super().__init__(f"match {match_id} is being played already")
