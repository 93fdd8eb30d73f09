"""Kept here: how each kind of page is cached: in which item, and for how long."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, TypeVar

from grandstand.apps.keiba import store
from grandstand.apps.keiba.model import (
    Circuit,
    Form,
    HorseProfile,
    JockeyRecord,
    Odds,
    Parents,
    Pedigree,
    RaceCard,
    RaceEntry,
    RaceResult,
)
from grandstand.apps.keiba.model.previews import WrittenPreview
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.keiba.sources.reading.page import Parsed
from grandstand.storage.tables.cache import CacheForm, CacheKey

T = TypeVar("T")

_WEEK: Final = store.WEEK.total_seconds()
_DAY: Final = store.DAY.total_seconds()


@dataclass(frozen=True, slots=True)
class Forms:
    """Every kind of entry; what is kept is what was read of a page, with its warnings."""

    race: CacheForm[Parsed[RaceCard]]
    result: CacheForm[Parsed[RaceResult]]
    odds: CacheForm[Parsed[Odds]]
    results: CacheForm[Parsed[Form]]
    parents: CacheForm[Parsed[Parents]]
    profile: CacheForm[Parsed[HorseProfile]]
    pedigree: CacheForm[Parsed[Pedigree]]
    jockey: CacheForm[Parsed[JockeyRecord]]
    day: CacheForm[Parsed[tuple[RaceEntry, ...]]]
    local_day: CacheForm[Parsed[tuple[RaceEntry, ...]]]
    meetings: CacheForm[Parsed[tuple[date, ...]]]
    preview: CacheForm[Parsed[WrittenPreview]]

    def day_of(self, race_date: date, circuit: Circuit) -> CacheKey[Parsed[tuple[RaceEntry, ...]]]:
        """Name a day's list of a circuit."""
        form = self.local_day if circuit == "nar" else self.day
        return form.key(race_date=race_date)

    @property
    def every(self) -> tuple[CacheForm[Any], ...]:
        """All of them."""
        return tuple(getattr(self, name) for name in self.__slots__)


def forms_of(settings: KeibaSettings) -> Forms:
    """Answer how things are kept by these settings.

    The times of the five specified kinds are the specified ones, unless a page was read in part.
    """

    def form(entity: type[store.Fetched], life: Callable[[T], float]) -> CacheForm[Parsed[T]]:
        return _form(entity, life, settings)

    def listed(races: tuple[RaceEntry, ...]) -> float:
        return _DAY if races else settings.partial_seconds

    def drawn(card: RaceCard) -> float:
        numbered = any(runner.horse_number is not None for runner in card.horses)
        return _WEEK if numbered else settings.partial_seconds

    def confirmed(result: RaceResult) -> float:
        return _WEEK if result.confirmed else settings.unconfirmed_seconds

    def final(odds: Odds) -> float:
        return _WEEK if odds.status == "final" else settings.odds_seconds

    return Forms(
        race=form(store.Race, drawn),
        result=form(store.RaceOutcome, confirmed),
        odds=form(store.RaceOdds, final),
        results=form(store.HorseResults, _raced),
        parents=form(store.HorseParents, _week),
        profile=form(store.HorseCareer, _week),
        pedigree=form(store.HorsePedigree, _week),
        jockey=form(store.JockeyStats, _week),
        day=form(store.DayRaces, listed),
        local_day=form(store.LocalDayRaces, listed),
        meetings=form(store.MeetingDays, lambda _: _DAY),
        preview=form(store.Analysis, _week),
    )


def _form(
    entity: type[store.Fetched], life: Callable[[T], float], settings: KeibaSettings
) -> CacheForm[Parsed[T]]:
    revalidates = settings.stale_while_revalidate_seconds
    outlives = settings.stale_on_error_seconds

    def seconds(read: Parsed[T]) -> float:
        whole = life(read.value)
        return min(whole, settings.partial_seconds) if read.warnings else whole

    return CacheForm(
        entity=entity,
        seconds=seconds,
        negative_seconds=settings.missing_seconds,
        stale_seconds=max(revalidates, outlives),
        revalidates=revalidates > 0,
        outlives_errors=outlives > 0,
        also=_fields,
        whole=_read,
    )


def _week(_: object) -> float:
    return _WEEK


def _raced(form: Form) -> float:
    """A horse that never ran soon has."""
    return _WEEK if form.recent_results else _DAY


def _fields(read: Parsed[Any]) -> Mapping[str, object]:
    return {"data": read.value, "warnings": read.warnings or None}


def _read(record: Any) -> Parsed[Any]:  # noqa: ANN401 - any of our entities
    return Parsed(record.data, record.warnings or ())
