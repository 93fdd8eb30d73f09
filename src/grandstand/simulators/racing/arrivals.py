"""Kept here: who asked the site for what and when, so that a visitor's politeness can be shown."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, TypeAlias

Host: TypeAlias = Literal["race", "nar", "db"]

_KEPT: Final = 20_000


@dataclass(frozen=True, slots=True)
class Arrival:
    """One request: seconds of the wall's monotonic clock, host, path with its query, agent."""

    at: float
    host: Host
    path: str
    agent: str


@dataclass
class Arrivals:
    """The requests of late, and how many were under way at once on each host."""

    kept: deque[Arrival] = field(default_factory=lambda: deque(maxlen=_KEPT))
    at_once: dict[Host, int] = field(default_factory=dict)
    most_at_once: dict[Host, int] = field(default_factory=dict)

    def begin(self, arrival: Arrival) -> float | None:
        """Note a request and answer the seconds since the one before on its host."""
        last = next((one for one in reversed(self.kept) if one.host == arrival.host), None)
        self.kept.append(arrival)
        now = self.at_once.get(arrival.host, 0) + 1
        self.at_once[arrival.host] = now
        self.most_at_once[arrival.host] = max(now, self.most_at_once.get(arrival.host, 0))
        return None if last is None else arrival.at - last.at

    def end(self, host: Host) -> None:
        """Note that a request of a host is over."""
        self.at_once[host] -= 1

    def on(self, host: Host) -> list[Arrival]:
        """Answer a host's requests, oldest first."""
        return [arrival for arrival in self.kept if arrival.host == host]

    def gaps(self, host: Host) -> list[float]:
        """Answer the seconds between a host's requests."""
        return [later.at - sooner.at for sooner, later in pairwise(self.on(host))]
