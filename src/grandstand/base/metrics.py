"""Kept here: everything that is counted and measured, and its form for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from grandstand.base.errors import Broken

if TYPE_CHECKING:
    from prometheus_client import Counter, Gauge, Histogram

Kind: TypeAlias = Literal["counter", "gauge", "histogram"]

_PREFIX: Final = "grandstand_"
_VERBS: Final[dict[Kind, str]] = {"counter": "count", "gauge": "set", "histogram": "observe"}

FORM: Final = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Family:
    """A group of figures of one name, told apart by labels."""

    name: str
    kind: Kind
    purpose: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


_SECONDS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

FAMILIES: Final = (
    Family("requests", "counter", "Requests answered.", ("method", "route", "status")),
    Family("request_seconds", "histogram", "Time to answer.", ("route",), _SECONDS),
    Family("sockets", "gauge", "Pages that listen."),
    Family("news_dropped", "counter", "News a slow page did not get.", ("topic",)),
    Family("job_runs", "counter", "Runs of jobs that ended.", ("job", "outcome")),
    Family("job_seconds", "histogram", "How long runs took.", ("job",), _SECONDS),
    Family("source_requests", "counter", "Requests to outsiders.", ("source", "outcome")),
    Family("source_seconds", "histogram", "Time outsiders took.", ("source",), _SECONDS),
    Family("source_quota_left", "gauge", "What is left of a quota.", ("source",)),
    Family("source_breaker_open", "gauge", "1 while a source is not asked.", ("source",)),
    Family("socket_connects", "counter", "Connections to outsiders made.", ("source", "outcome")),
    Family("storage_bytes", "gauge", "What is kept takes so much.", ("part",)),
    Family("storage_rows", "gauge", "So much is kept.", ("part",)),
    Family("cache_reads", "counter", "Reads through a cache.", ("cache", "outcome")),
    Family("pushes", "counter", "Pushes handed over.", ("outcome",)),
    Family("outbox_waiting", "gauge", "Consequences not yet carried out.", ("topic",)),
    Family("llm_tokens", "counter", "Tokens used.", ("model", "direction")),
    Family("llm_cost_microdollars", "counter", "What they cost.", ("model",)),
    Family("gatherer_frames", "counter", "Frames of the exchange taken."),
    Family("gatherer_rows", "counter", "Rows handed over to be kept.", ("series",)),
    Family("gatherer_gaps", "counter", "Gaps found in the stream.", ("reason",)),
    Family("gatherer_gaps_open", "gauge", "Gaps that are not closed."),
    Family("gatherer_markets", "gauge", "Markets followed, and of them stale.", ("state",)),
    Family("gatherer_lag_seconds", "gauge", "From receipt until kept.", ("share",)),
    Family("gatherer_waiting_rows", "gauge", "Rows not kept yet.", ("where",)),
)


class FigureFault(Broken):
    """A figure was named, labelled or used in a way that its family does not have."""


class Metrics:
    """The figures of one process; names are those of FAMILIES, and labels are all given.

    Every method raises FigureFault, which says what would have been right.
    """

    def __init__(self, families: tuple[Family, ...] = FAMILIES) -> None:
        from prometheus_client import CollectorRegistry

        self._registry = CollectorRegistry()
        self._families = {family.name: family for family in families}
        self._made = {family.name: self._make(family) for family in families}

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add to a counter."""
        if amount < 0:
            message = f"{name} is a counter and cannot go back by {-amount}: use a gauge"
            raise FigureFault(message)
        self._one(name, "counter", labels).inc(amount)

    def set(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        self._one(name, "gauge", labels).set(value)

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Put a value into a histogram."""
        self._one(name, "histogram", labels).observe(value)

    def counting(self, name: str, **labels: str) -> Callable[[], None]:
        """Answer what adds one to a counter: for whoever counts the same thing very often."""
        added: Callable[[], None] = self._one(name, "counter", labels).inc
        return added

    def observing(self, name: str, **labels: str) -> Callable[[float], None]:
        """Answer what puts a value into a histogram, as `counting` does for a counter."""
        put: Callable[[float], None] = self._one(name, "histogram", labels).observe
        return put

    def value(self, name: str, **labels: str) -> float:
        """Answer a figure as it is now, 0 at first; of a histogram, how many values it got."""
        family = self._family(name)
        self._check_labels(family, labels)
        ending = {"counter": "_total", "gauge": "", "histogram": "_count"}[family.kind]
        sample = self._registry.get_sample_value(f"{_PREFIX}{name}{ending}", labels)
        return sample or 0.0

    def exposition(self) -> bytes:
        """Answer all figures in Prometheus' text form."""
        from prometheus_client import generate_latest

        return generate_latest(self._registry)

    def _make(self, family: Family) -> Counter | Gauge | Histogram:
        from prometheus_client import Counter, Gauge, Histogram

        name = f"{_PREFIX}{family.name}"
        if family.kind == "histogram":
            return Histogram(
                name, family.purpose, family.labels, buckets=family.buckets, registry=self._registry
            )
        made = Counter if family.kind == "counter" else Gauge
        return made(name, family.purpose, family.labels, registry=self._registry)

    def _one(self, name: str, kind: Kind, labels: dict[str, str]) -> Any:  # noqa: ANN401 - by kind
        family = self._family(name)
        if family.kind != kind:
            message = f"{name} is a {family.kind}, not a {kind}: use {_VERBS[family.kind]}()"
            raise FigureFault(message)
        self._check_labels(family, labels)
        made = self._made[name]
        return made.labels(**labels) if labels else made

    def _family(self, name: str) -> Family:
        family = self._families.get(name)
        if family is None:
            message = f"There is no figure {name!r}{_nearest(name, self._families)}"
            raise FigureFault(message)
        return family

    def _check_labels(self, family: Family, labels: dict[str, str]) -> None:
        if labels.keys() == set(family.labels):
            return
        wanted = ", ".join(family.labels) or "none"
        given = ", ".join(labels) or "none"
        message = f"{family.name} has the labels: {wanted}; given were: {given}"
        raise FigureFault(message)


def _nearest(name: str, names: Iterable[str]) -> str:
    near = get_close_matches(name, names, n=1)
    return f": did you mean {near[0]}?" if near else "; all are listed in FAMILIES"
