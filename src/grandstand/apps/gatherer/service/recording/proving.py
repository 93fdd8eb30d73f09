"""Kept here: up to which moment nothing can be missing on a connection that no gap tells of."""

from __future__ import annotations

from typing import TypeAlias

from grandstand.apps.gatherer.model.lines import SLACK_US

Progress: TypeAlias = dict[int, tuple[int, int]]
"""The last number of each subscription, and the instant of its last delta."""


class Proof:
    """How far each subscription of one connection was, at the last two marks.

    What is missing shows with the next number only. So a subscription that told something since a
    mark told everything up to that mark, and one that is quiet has to be asked.
    """

    def __init__(self, began_at: int = 0) -> None:
        self._proven: dict[int, int] = {}
        self._last: tuple[int, Progress] = (began_at, {})
        self._before: tuple[int, Progress] = (began_at, {})

    def mark(self, at: int, progress: Progress) -> None:
        """Note how far each subscription is now."""
        self._before, self._last = self._last, (at, progress)

    def proven(self, progress: Progress) -> tuple[int, list[int]]:
        """Answer up to which moment all is proven, and the subscriptions that are quiet."""
        (at, last), (earlier, before) = self._last, self._before
        proven: dict[int, int] = {}
        for sid, (seq, told_ts) in progress.items():
            since = self._proven.get(sid, earlier)
            if seq > last.get(sid, (-1, 0))[0]:
                since = at
            elif seq > before.get(sid, (-1, 0))[0]:
                since = max(since, earlier)
            proven[sid] = min(since, told_ts) if told_ts > since - SLACK_US else since
        self._proven = proven
        quiet = [sid for sid, since in proven.items() if since < at]
        return min(proven.values(), default=at), quiet
