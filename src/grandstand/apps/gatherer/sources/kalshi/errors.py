"""Kept here: what can go wrong with the exchange that a person has to put right."""

from __future__ import annotations

from grandstand.base.errors import InvalidInput, NotAllowed, SourceFailed


class SigningKeyUnusable(InvalidInput):
    """The private key is missing, cannot be read, or is of a kind the exchange does not take."""


class KeyRefused(NotAllowed):
    """The exchange does not accept the key, or not for this; asking again does not help."""


class CursorLoops(SourceFailed):
    """The exchange answers pages without end: a cursor came twice."""
