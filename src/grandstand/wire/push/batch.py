"""Kept here: requests handed in together, and which of them are answered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeAlias

from grandstand.wire.push.values import Outcome, Request


class Batch:
    """Requests and their outcomes, in one order; `done` is set when the last one has come."""

    __slots__ = ("done", "left", "outcomes", "requests")

    def __init__(self, requests: Sequence[Request], done: asyncio.Future[None]) -> None:
        self.requests = requests
        self.outcomes: list[Outcome | None] = [None] * len(requests)
        self.left = len(requests)
        self.done = done

    def take(self, index: int, outcome: Outcome) -> None:
        """Keep an outcome; a second one for the same request is dropped."""
        if self.outcomes[index] is not None:
            return
        self.outcomes[index] = outcome
        self.left -= 1
        if not self.left and not self.done.done():
            self.done.set_result(None)


Job: TypeAlias = tuple[Batch, int]
"""One request of a batch."""
