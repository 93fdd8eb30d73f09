"""A circuit breaker per source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeAlias

from grandstand.core.clock import Clock
from grandstand.net.errors import CircuitOpen
from grandstand.net.retry import backoff_seconds

BreakerState: TypeAlias = Literal["closed", "open", "half-open"]


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """When the breaker opens, and for how long.

    The pause doubles each time the probe after it fails, up to `longest_seconds`.
    """

    failures: int = 5
    rest_seconds: float = 15.0
    longest_seconds: float = 300.0


class CircuitBreaker:
    """Opens after consecutive failures, then lets one probe through after a pause."""

    def __init__(self, source: str, policy: BreakerPolicy, clock: Clock) -> None:
        self._source = source
        self._policy = policy
        self._clock = clock
        self._failed = 0
        self._pauses = 0
        self._until: float | None = None
        self._is_probing = False

    @property
    def state(self) -> BreakerState:
        """The state: closed (requests pass), open (none pass), half-open (one probe passes)."""
        if self._until is None:
            return "closed"
        return "open" if self._clock.monotonic() < self._until else "half-open"

    @property
    def rest_seconds(self) -> float:
        """The seconds until the next probe."""
        return 0.0 if self._until is None else max(0.0, self._until - self._clock.monotonic())

    def check(self) -> None:
        """Raise CircuitOpen if a request would not pass."""
        if self.state == "open" or (self.state == "half-open" and self._is_probing):
            rest = self.rest_seconds
            message = f"{self._source} failed {self._failed} times in a row; " + (
                f"next attempt in {rest:.0f} s" if rest else "one request is probing it now"
            )
            raise CircuitOpen(message, source=self._source, retry_after_seconds=rest)

    @contextmanager
    def guard(
        self, faults: tuple[type[Exception], ...], unsent: tuple[type[Exception], ...]
    ) -> Iterator[None]:
        """Run a request in this block; its outcome moves the breaker. Raises CircuitOpen.

        `faults` count as failures of the source. `unsent` and cancellation say nothing about it.
        Any other error shows that the source is alive.
        """
        self.check()
        probing = self._until is not None
        self._is_probing = self._is_probing or probing
        try:
            yield
        except faults:
            self._fail(probed=probing)
            raise
        except unsent:
            raise
        except Exception:
            self._recover()
            raise
        else:
            self._recover()
        finally:
            self._is_probing = self._is_probing and not probing

    def _recover(self) -> None:
        self._failed = self._pauses = 0
        self._until = None

    def _fail(self, *, probed: bool) -> None:
        self._failed += 1
        # Requests that were in flight when the breaker opened say nothing new.
        begins = self._until is None and self._failed >= self._policy.failures
        if probed or begins:
            self._pauses += 1
            policy = self._policy
            rest = backoff_seconds(self._pauses, policy.rest_seconds, policy.longest_seconds)
            self._until = self._clock.monotonic() + rest
