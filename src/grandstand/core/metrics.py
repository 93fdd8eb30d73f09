"""Prometheus metrics: one list of all metric families, and the values of one process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from grandstand.core.errors import Broken

if TYPE_CHECKING:
    from prometheus_client import Counter, Gauge, Histogram

Kind: TypeAlias = Literal["counter", "gauge", "histogram"]

_PREFIX: Final = "grandstand_"
_VERBS: Final[dict[Kind, str]] = {"counter": "count", "gauge": "set", "histogram": "observe"}

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class MetricFamily:
    """One metric: its name, type, help text, labels and histogram buckets."""

    name: str
    kind: Kind
    purpose: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


_SECONDS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

FAMILIES: Final = (
    MetricFamily("requests", "counter", "HTTP requests handled.", ("method", "route", "status")),
    MetricFamily(
        "request_seconds", "histogram", "Duration of HTTP requests.", ("route",), _SECONDS
    ),
    MetricFamily("sockets", "gauge", "Open live connections of pages."),
    MetricFamily(
        "live_messages_dropped", "counter", "Live messages dropped for slow pages.", ("topic",)
    ),
    MetricFamily("job_runs", "counter", "Completed job runs.", ("job", "outcome")),
    MetricFamily("job_seconds", "histogram", "Duration of job runs.", ("job",), _SECONDS),
    MetricFamily(
        "source_requests", "counter", "Requests to external sources.", ("source", "outcome")
    ),
    MetricFamily(
        "source_seconds",
        "histogram",
        "Duration of requests to external sources.",
        ("source",),
        _SECONDS,
    ),
    MetricFamily("source_quota_left", "gauge", "Remaining quota.", ("source",)),
    MetricFamily(
        "source_breaker_open", "gauge", "1 while the circuit breaker is open.", ("source",)
    ),
    MetricFamily(
        "socket_connects", "counter", "WebSocket connections opened.", ("source", "outcome")
    ),
    MetricFamily("storage_bytes", "gauge", "Size of stored data.", ("part",)),
    MetricFamily("storage_rows", "gauge", "Number of stored items or rows.", ("part",)),
    MetricFamily("cache_reads", "counter", "Cache reads.", ("cache", "outcome")),
    MetricFamily("pushes", "counter", "Push notifications sent.", ("outcome",)),
    MetricFamily("outbox_waiting", "gauge", "Outbox messages waiting for delivery.", ("topic",)),
    MetricFamily("llm_tokens", "counter", "Language model tokens used.", ("model", "direction")),
    MetricFamily("llm_cost_microdollars", "counter", "Language model cost.", ("model",)),
    MetricFamily("gatherer_frames", "counter", "Exchange frames received."),
    MetricFamily("gatherer_rows", "counter", "Rows written.", ("series",)),
    MetricFamily("gatherer_gaps", "counter", "Gaps detected in the stream.", ("reason",)),
    MetricFamily("gatherer_gaps_open", "gauge", "Open gaps."),
    MetricFamily("gatherer_markets", "gauge", "Recorded markets by state.", ("state",)),
    MetricFamily(
        "gatherer_lag_seconds", "gauge", "Delay between receipt and durable storage.", ("share",)
    ),
    MetricFamily("gatherer_waiting_rows", "gauge", "Rows waiting to be stored.", ("where",)),
)


class Metrics:
    """The metric values of one process.

    Every method takes a name from FAMILIES and all of its labels; otherwise it raises
    Broken.
    """

    def __init__(self, families: tuple[MetricFamily, ...] = FAMILIES) -> None:
        from prometheus_client import CollectorRegistry

        self._registry = CollectorRegistry()
        self._families = {family.name: family for family in families}
        self._metrics = {family.name: self._create(family) for family in families}

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add to a counter."""
        if amount < 0:
            message = f"{name} is a counter and cannot decrease by {-amount}. Use a gauge."
            raise Broken(message)
        self._get(name, "counter", labels).inc(amount)

    def set(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        self._get(name, "gauge", labels).set(value)

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Add a value to a histogram."""
        self._get(name, "histogram", labels).observe(value)

    def counting(self, name: str, **labels: str) -> Callable[[], None]:
        """Return a function that increments a counter, for hot paths."""
        increment: Callable[[], None] = self._get(name, "counter", labels).inc
        return increment

    def observing(self, name: str, **labels: str) -> Callable[[float], None]:
        """Return a function that adds a value to a histogram, for hot paths."""
        observe: Callable[[float], None] = self._get(name, "histogram", labels).observe
        return observe

    def value(self, name: str, **labels: str) -> float:
        """Return the current value, or the number of observations of a histogram."""
        family = self._family(name)
        self._check_labels(family, labels)
        ending = {"counter": "_total", "gauge": "", "histogram": "_count"}[family.kind]
        sample = self._registry.get_sample_value(f"{_PREFIX}{name}{ending}", labels)
        return sample or 0.0

    def exposition(self) -> bytes:
        """Return all metrics in the Prometheus text format."""
        from prometheus_client import generate_latest

        return generate_latest(self._registry)

    def _create(self, family: MetricFamily) -> Counter | Gauge | Histogram:
        from prometheus_client import Counter, Gauge, Histogram

        name = f"{_PREFIX}{family.name}"
        if family.kind == "histogram":
            return Histogram(
                name, family.purpose, family.labels, buckets=family.buckets, registry=self._registry
            )
        metric_class = Counter if family.kind == "counter" else Gauge
        return metric_class(name, family.purpose, family.labels, registry=self._registry)

    def _get(self, name: str, kind: Kind, labels: dict[str, str]) -> Any:  # noqa: ANN401 - by kind
        family = self._family(name)
        if family.kind != kind:
            message = f"{name} is a {family.kind}, not a {kind}. Use {_VERBS[family.kind]}()."
            raise Broken(message)
        self._check_labels(family, labels)
        metric = self._metrics[name]
        return metric.labels(**labels) if labels else metric

    def _family(self, name: str) -> MetricFamily:
        family = self._families.get(name)
        if family is None:
            near = get_close_matches(name, self._families, n=1)
            hint = f": did you mean {near[0]}?" if near else ". FAMILIES lists all metrics."
            raise Broken(f"Unknown metric {name!r}{hint}")
        return family

    def _check_labels(self, family: MetricFamily, labels: dict[str, str]) -> None:
        if labels.keys() == set(family.labels):
            return
        expected = ", ".join(family.labels) or "none"
        given = ", ".join(labels) or "none"
        raise Broken(f"{family.name} has labels {expected}, not {given}")
