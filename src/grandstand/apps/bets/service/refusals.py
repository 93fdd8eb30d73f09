"""Kept here: what the service refuses, each with its reason.

InvalidInput   ModelRefused WagerRefused LimitsRefused DatasetRefused FileRefused WalkRefused
               TeamRefused
NotFound       SportUnknown GameUnknown ModelUnknown WagerUnknown DatasetUnknown BacktestUnknown
Conflict       WagerClosed LedgerBusy
LimitReached   TooManyModels
Unavailable    OddsNotConnected
"""

from __future__ import annotations

from grandstand.base.errors import Conflict, InvalidInput, LimitReached, NotFound, Unavailable


class SportUnknown(NotFound):
    """The sport is not among those that are followed."""


class GameUnknown(NotFound):
    """There is no such game here."""


class ModelUnknown(NotFound):
    """There is no such model, or it is somebody else's."""


class WagerUnknown(NotFound):
    """There is no such bet, or it is somebody else's."""


class DatasetUnknown(NotFound):
    """There is no such table of figures, or it is somebody else's."""


class BacktestUnknown(NotFound):
    """There is no such back-test, or it is somebody else's."""


class ModelRefused(InvalidInput):
    """A model cannot be kept as it is described."""


class WagerRefused(InvalidInput):
    """A bet cannot be recorded as it is described."""


class LimitsRefused(InvalidInput):
    """A limit cannot be that."""


class DatasetRefused(InvalidInput):
    """A table of figures cannot be used as it is."""


class FileRefused(InvalidInput):
    """A file is not what it should be."""


class WalkRefused(InvalidInput):
    """A back-test cannot be made over these days."""


class TeamRefused(InvalidInput):
    """A team cannot be named so."""


class WagerClosed(Conflict):
    """The bet is settled, or its game has begun."""


class LedgerBusy(Conflict):
    """Others enter into the same book all the time."""

    retry = True


class TooManyModels(LimitReached):
    """A person has as many models as they may have."""

    retry = False


class OddsNotConnected(Unavailable):
    """There is no feed of odds; asking again does not bring one."""

    retry = False
