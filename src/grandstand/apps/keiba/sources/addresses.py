"""Kept here: where each kind of page is on the race site."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final, Literal, TypeAlias

from grandstand.apps.keiba.model import ids
from grandstand.apps.keiba.model.words import Circuit

Site: TypeAlias = Literal["race", "nar", "db"]

TERMS: Final = (
    "Pages of netkeiba are read for personal use and are not passed on; its terms are at "
    "https://www.netkeiba.com/info/kiyaku.html."
)


@dataclass(frozen=True, slots=True)
class Place:
    """A page of a site: its path and query."""

    site: Site
    path: str
    query: tuple[tuple[str, str], ...] = ()

    @property
    def target(self) -> str:
        """The path with its query."""
        query = "&".join(f"{name}={value}" for name, value in self.query)
        return f"{self.path}?{query}" if query else self.path


def day_list(race_date: date, circuit: Circuit = "jra") -> Place:
    """Answer where the races of a day are: the whole page fills its list by script."""
    query = (("kaisai_date", f"{race_date:%Y%m%d}"),)
    return Place(_races(circuit), "/top/race_list_sub.html", query)


def meeting_days(around: date, circuit: Circuit = "jra") -> Place:
    """Answer where the days of racing around a day are."""
    query = (("kaisai_date", f"{around:%Y%m%d}"),)
    return Place(_races(circuit), "/top/race_list_get_date_list.html", query)


def card(race_id: str) -> Place:
    """Answer where a card is; raise IdInvalid."""
    return _of_race(race_id, "/race/shutuba.html")


def result(race_id: str) -> Place:
    """Answer where a result is; raise IdInvalid."""
    return _of_race(race_id, "/race/result.html")


def odds(race_id: str) -> Place:
    """Answer where the odds of a race are; raise IdInvalid."""
    if ids.circuit_of(ids.race_id(race_id)) == "nar":
        return Place("nar", "/odds/index.html", (("type", "b1"), ("race_id", race_id)))
    query = (("race_id", race_id), ("type", "1"), ("action", "init"))
    return Place("race", "/api/api_get_jra_odds.html", query)


def horse_profile(horse_id: str) -> Place:
    """Answer where a horse's profile is; raise IdInvalid."""
    return Place("db", f"/horse/{ids.horse_id(horse_id)}/")


def horse_results(horse_id: str) -> Place:
    """Answer where a horse's races are; raise IdInvalid."""
    return Place("db", f"/horse/result/{ids.horse_id(horse_id)}/")


def pedigree(horse_id: str) -> Place:
    """Answer where a horse's ancestors are; raise IdInvalid."""
    return Place("db", f"/horse/ped/{ids.horse_id(horse_id)}/")


def jockey(jockey_id: str) -> Place:
    """Answer where a jockey's career is; raise IdInvalid."""
    return Place("db", f"/jockey/{ids.person_id(jockey_id)}/")


def jockey_years(jockey_id: str) -> Place:
    """Answer where all years of a jockey are; raise IdInvalid."""
    return Place("db", "/jockey/result.html", (("id", ids.person_id(jockey_id)),))


def _of_race(race_id: str, path: str) -> Place:
    return Place(_races(ids.circuit_of(ids.race_id(race_id))), path, (("race_id", race_id),))


def _races(circuit: Circuit) -> Site:
    return "nar" if circuit == "nar" else "race"
