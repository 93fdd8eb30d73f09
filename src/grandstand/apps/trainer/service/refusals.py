"""Kept here: why the trainer says no."""

from __future__ import annotations

from grandstand.base.errors import Conflict, InvalidInput, NotFound


class ScenarioNotFound(NotFound):
    """There is no such scenario, or it is not on offer any more."""


class AttemptNotFound(NotFound):
    """The caller has no such attempt."""


class AnswerRefused(InvalidInput):
    """A field of what was handed in cannot be taken as it is; `field` says which."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class WrongState(Conflict):
    """The attempt is not in the state this needs: submitted already, or not judged yet."""


class ClientTokenReused(Conflict):
    """The client's token belongs to another attempt of the same person."""


class NoSecondJudge(Conflict):
    """Nobody is set up to give a second opinion."""
