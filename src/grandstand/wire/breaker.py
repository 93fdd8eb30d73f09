"""Kept here: the decision to leave a source alone for a while after it has failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeAlias

from grandstand.base.clock import Clock
from grandstand.wire.errors import BreakerOpen

BreakerState: TypeAlias = Literal["closed", "open", "half-open"]


@dataclass(frozen=True, slots=True)
class Breaking:
    """When to leave a source alone: after so many failures in a row, for so long.

    The rest doubles each time the trial after it fails, up to `longest_seconds`.
    """

    failures: int = 5
    rest_seconds: float = 15.0
    longest_seconds: float = 300.0


class Breaker:
    """Lets requests through until some in a row have failed, then none for a rest, then one."""

    def __init__(self, source: str, breaking: Breaking, clock: Clock) -> None:
        self._source = source
        self._breaking = breaking
        self._clock = clock
        self._failed = 0
        self._rests = 0
        self._until: float | None = None
        self._trying = False

    @property
    def state(self) -> BreakerState:
        """Whether requests go through, none does, or one may try."""
        if self._until is None:
            return "closed"
        return "open" if self._clock.monotonic() < self._until else "half-open"

    @property
    def rest_seconds(self) -> float:
        """How long the source is still left alone."""
        return 0.0 if self._until is None else max(0.0, self._until - self._clock.monotonic())

    def check(self) -> None:
        """Raise BreakerOpen when a request would not go through now."""
        if self.state == "open" or (self.state == "half-open" and self._trying):
            rest = self.rest_seconds
            message = f"{self._source} failed {self._failed} times in a row and is left alone; " + (
                f"it is tried again in {rest:.0f} s" if rest else "one request is trying it now"
            )
            raise BreakerOpen(message, source=self._source, retry_after_seconds=rest)

    @contextmanager
    def trying(
        self, faults: tuple[type[Exception], ...], unsent: tuple[type[Exception], ...]
    ) -> Iterator[None]:
        """Send within this block; how it ends decides what comes next. Raises BreakerOpen.

        Of the errors that leave the block, `faults` count as failures of the source and `unsent`
        say nothing about it, nor does a cancellation; any other shows that it is alive.
        """
        self.check()
        probing = self._until is not None
        self._trying = self._trying or probing
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
            self._trying = self._trying and not probing

    def _recover(self) -> None:
        self._failed = self._rests = 0
        self._until = None

    def _fail(self, *, probed: bool) -> None:
        self._failed += 1
        # What was under way when the rest began says nothing new.
        begins = self._until is None and self._failed >= self._breaking.failures
        if probed or begins:
            rest = self._breaking.rest_seconds * 2.0 ** min(self._rests, 30)
            self._until = self._clock.monotonic() + min(rest, self._breaking.longest_seconds)
            self._rests += 1
