"""Kept here: the answer to a credential or a request that is not accepted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refused:
    """Not accepted, and why, in a sentence that may be told to whoever asked."""

    reason: str
