"""Kept here: the decision to leave a store alone for a while after it has failed."""

from __future__ import annotations

from threading import Lock

from grandstand.base.clock import Clock


class Breaker:
    """Lets calls through until some in a row have failed, then none for a rest, then one to try.

    Safe to share between threads.
    """

    def __init__(self, clock: Clock, *, errors: int, rest_seconds: float) -> None:
        self._clock = clock
        self._errors = errors
        self._rest_seconds = rest_seconds
        self._lock = Lock()
        self._failed = 0
        self._until: float | None = None

    def allows(self) -> bool:
        """Tell whether to call now; after a rest, one caller is told yes until it reports back."""
        with self._lock:
            if self._until is None:
                return True
            now = self._clock.monotonic()
            if now < self._until:
                return False
            self._until = now + self._rest_seconds
            return True

    def passed(self) -> None:
        """Take note that a call was answered."""
        with self._lock:
            self._failed = 0
            self._until = None

    def failed(self) -> bool:
        """Take note that a call was not answered; tell whether the rest begins with it."""
        with self._lock:
            self._failed += 1
            if self._failed < self._errors:
                return False
            begins = self._until is None
            self._until = self._clock.monotonic() + self._rest_seconds
            return begins
