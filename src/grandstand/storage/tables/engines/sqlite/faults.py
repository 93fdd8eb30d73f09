"""Kept here: the weaknesses of DynamoDB that tests can ask the embedded engine to show."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Faults:
    """What DynamoDB may do and an embedded engine would not, so that nobody relies on more.

    Every n-th member of a batch is left unprocessed; a global index shows the table as it was
    that many seconds ago. All processes that open one file must agree on the delay.
    """

    unprocessed_every: int = 0
    index_delay_seconds: float = 0
