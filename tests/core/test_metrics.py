"""Metrics by name and label, and helpful errors for wrong ones."""

from collections.abc import Callable

import pytest

from grandstand.core.errors import Broken
from grandstand.core.metrics import FAMILIES, Metrics


def test_a_counter_adds_up_per_label() -> None:
    metrics = Metrics()

    metrics.count("job_runs", job="tidy", outcome="done")
    metrics.count("job_runs", 2, job="tidy", outcome="done")
    metrics.count("job_runs", job="tidy", outcome="failed")

    assert metrics.value("job_runs", job="tidy", outcome="done") == 3
    assert metrics.value("job_runs", job="tidy", outcome="failed") == 1
    assert metrics.value("job_runs", job="other", outcome="done") == 0


def test_a_gauge_keeps_the_last_value_and_a_histogram_counts_values() -> None:
    metrics = Metrics()

    metrics.set("sockets", 5)
    metrics.set("sockets", 2)
    metrics.observe("job_seconds", 0.3, job="tidy")
    metrics.observe("job_seconds", 40.0, job="tidy")

    assert metrics.value("sockets") == 2
    assert metrics.value("job_seconds", job="tidy") == 2


def test_the_exposition_is_prometheus_text_under_our_prefix() -> None:
    metrics = Metrics()
    metrics.count("source_requests", source="odds", outcome="ok")
    metrics.observe("request_seconds", 0.02, route="/health")

    text = metrics.exposition().decode()

    assert 'grandstand_source_requests_total{outcome="ok",source="odds"} 1.0' in text
    assert 'grandstand_request_seconds_bucket{le="0.025",route="/health"} 1.0' in text
    assert "# HELP grandstand_sockets Open live connections of pages." in text


def test_every_family_can_be_told_with_its_labels() -> None:
    metrics = Metrics()
    verbs: dict[str, Callable[..., None]] = {
        "counter": metrics.count,
        "gauge": metrics.set,
        "histogram": metrics.observe,
    }

    for family in FAMILIES:
        verbs[family.kind](family.name, 1, **dict.fromkeys(family.labels, "x"))

    told = [metrics.value(each.name, **dict.fromkeys(each.labels, "x")) for each in FAMILIES]
    assert told == [1.0] * len(FAMILIES)


def test_a_misspelt_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(Broken, match="Unknown metric 'job_run': did you mean job_runs"):
        Metrics().count("job_run", job="a", outcome="b")


def test_a_name_like_no_other_is_answered_with_where_to_look() -> None:
    with pytest.raises(Broken, match="FAMILIES lists all metrics"):
        Metrics().set("zzz", 1)


@pytest.mark.parametrize("labels", [{}, {"job": "a"}, {"job": "a", "outcome": "b", "x": "c"}])
def test_labels_too_few_or_too_many_are_answered_with_the_right_ones(
    labels: dict[str, str],
) -> None:
    with pytest.raises(Broken, match="job_runs has labels job, outcome, not"):
        Metrics().count("job_runs", 1, **labels)


def test_a_figure_used_as_another_kind_is_answered_with_the_right_verb() -> None:
    with pytest.raises(Broken, match=r"sockets is a gauge, not a counter. Use set\(\)"):
        Metrics().count("sockets")


def test_a_counter_never_goes_back() -> None:
    with pytest.raises(Broken, match="cannot decrease by 2"):
        Metrics().count("pushes", -2, outcome="gone")
