"""Kept here: what the runs of many horses teach about jockeys, sires and standard times."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final, TypeVar

from grandstand.apps.keiba.model.people import Form, Parents, PastRun
from grandstand.apps.keiba.model.standards import Standards, learn_standards
from grandstand.apps.keiba.model.words import Surface

K = TypeVar("K", bound=Hashable)

_WON: Final = 1
_TOP2: Final = 2
_TOP3: Final = 3


@dataclass(frozen=True, slots=True)
class Record:
    """Starts, and how many of them brought the first, the first two, the first three places."""

    starts: int = 0
    wins: int = 0
    top2: int = 0
    top3: int = 0

    @property
    def top3_rate(self) -> float | None:
        """The share of starts among the first three; None without starts."""
        return self.top3 / self.starts if self.starts else None


@dataclass(frozen=True, slots=True)
class Background:
    """What the runs before a date teach; the records of sires are those of their offspring."""

    standards: Standards = field(default_factory=Standards)
    jockeys: Mapping[str, Record] = field(default_factory=dict)
    jockeys_by_track: Mapping[tuple[str, str], Record] = field(default_factory=dict)
    sires_by_surface: Mapping[tuple[str, Surface], Record] = field(default_factory=dict)


def learn_background(
    forms: Sequence[Form], *, before: date, parents: Iterable[Parents] = ()
) -> Background:
    """All that the runs of these horses before a date teach.

    The horses of one card are enough to begin with; the more are given, the more is believed.
    """
    runs = [
        (form.horse_id, run)
        for form in forms
        for run in form.recent_results
        if run.run_on < before and started(run)
    ]
    sires = {known.horse_id: known.sire.id for known in parents}
    ridden = [(run.jockey_id, run) for _, run in runs if run.jockey_id is not None]
    return Background(
        standards=learn_standards(forms, before=before),
        jockeys=_records((jockey, run) for jockey, run in ridden),
        jockeys_by_track=_records(((jockey, run.track), run) for jockey, run in ridden),
        sires_by_surface=_records(
            ((sire, run.track_type), run)
            for horse, run in runs
            if (sire := sires.get(horse)) is not None and run.track_type is not None
        ),
    )


def started(run: PastRun) -> bool:
    """Whether the horse left the gate: one withdrawn or kept out did not."""
    return run.outcome not in {"withdrawn", "excluded"}


def record_of(runs: Iterable[PastRun]) -> Record:
    """The record of runs; those in which the horse did not start are not counted."""
    return _records(("", run) for run in runs if started(run)).get("", Record())


def _records(runs: Iterable[tuple[K, PastRun]]) -> dict[K, Record]:
    """Count the runs of every key in one going; all of them are to be started ones."""
    tallies: dict[K, list[int]] = {}
    for key, run in runs:
        tally = tallies.get(key)
        if tally is None:
            tally = tallies[key] = [0, 0, 0, 0]
        tally[0] += 1
        position = run.position
        if position is not None and position <= _TOP3:
            tally[3] += 1
            tally[2] += position <= _TOP2
            tally[1] += position <= _WON
    return {key: Record(*tally) for key, tally in tallies.items()}
