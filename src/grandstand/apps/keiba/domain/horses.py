"""Horses and jockeys as values: form, profile, pedigree, statistics; None means unknown."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from grandstand.apps.keiba.domain.ids import Circuit
from grandstand.apps.keiba.domain.races import Going, Outcome, Sex, Surface, Weather


@dataclass(frozen=True, slots=True)
class PastRun:
    """One past race of a horse; a non-finisher has no position.

    `track` is without meeting numbers; `prize` is in units of 10,000 yen; `pace` is the text of
    the first and last 600 m; `winner` is the runner-up if the horse itself won.
    """

    run_on: date = field(metadata={"attribute": "date"})
    track: str
    race_name: str
    distance: int | None = None
    position: int | None = None
    time: str | None = None
    margin: str | None = None
    race_id: str | None = None
    circuit: Circuit | None = None
    meeting_number: int | None = None
    day_number: int | None = None
    race_number: int | None = None
    track_type: Surface | None = None
    weather: Weather | None = None
    going: Going | None = None
    runner_count: int | None = None
    frame_number: int | None = None
    horse_number: int | None = None
    win_odds: Decimal | None = None
    popularity: int | None = None
    outcome: Outcome | None = None
    demoted: bool | None = None
    jockey_id: str | None = None
    jockey_name: str | None = None
    carried_weight: Decimal | None = None
    time_seconds: Decimal | None = None
    passing: tuple[int, ...] = ()
    pace: str | None = None
    last_3f: Decimal | None = None
    body_weight: int | None = None
    body_weight_change: int | None = None
    remarks: str | None = None
    winner: str | None = None
    prize: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """A horse's past races, newest first."""

    horse_id: str
    horse_name: str
    recent_results: tuple[PastRun, ...]


@dataclass(frozen=True, slots=True)
class Parent:
    """A sire or dam and its own record; earnings are in units of 10,000 yen.

    `earnings` is the total of JRA (central) and NAR (local) earnings.
    """

    id: str | None = None
    name: str | None = None
    earnings: Decimal | None = None
    first: int | None = None
    second: int | None = None
    third: int | None = None
    fourth_or_lower: int | None = None
    earnings_central: Decimal | None = None
    earnings_local: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Parents:
    """A horse's sire and dam."""

    horse_id: str
    sire: Parent
    dam: Parent


@dataclass(frozen=True, slots=True)
class HorseProfile:
    """A horse's profile; earnings as in Parent."""

    horse_id: str
    horse_name: str
    english_name: str | None = None
    active: bool | None = None
    sex: Sex | None = None
    age: int | None = None
    coat: str | None = None
    born_on: date | None = None
    trainer_id: str | None = None
    trainer_name: str | None = None
    stable: str | None = None
    owner: str | None = None
    breeder: str | None = None
    birthplace: str | None = None
    sale_price: Decimal | None = None
    earnings: Decimal | None = None
    earnings_central: Decimal | None = None
    earnings_local: Decimal | None = None
    starts: int | None = None
    first: int | None = None
    second: int | None = None
    third: int | None = None
    fourth_or_lower: int | None = None
    main_wins: str | None = None
    relatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ancestor:
    """One horse of a pedigree; `path` has S for sire and D for dam at each generation."""

    path: str
    id: str | None = None
    name: str | None = None
    english_name: str | None = None
    country: str | None = None
    born_year: int | None = None
    coat: str | None = None
    family: str | None = None

    @property
    def generation(self) -> int:
        """The generation; parents are the first."""
        return len(self.path)


@dataclass(frozen=True, slots=True)
class Pedigree:
    """Five generations of a horse, ordered by generation, sire's side first."""

    horse_id: str
    ancestors: tuple[Ancestor, ...]

    def at(self, path: str) -> Ancestor | None:
        """Return the ancestor at a path, such as DS for the dam's sire."""
        return next((horse for horse in self.ancestors if horse.path == path), None)

    @property
    def sire(self) -> Ancestor | None:
        return self.at("S")

    @property
    def dam(self) -> Ancestor | None:
        return self.at("D")


@dataclass(frozen=True, slots=True)
class JockeyFigures:
    """Ride statistics of a period; rates are in percent, `place_rate` is for the top three."""

    wins: int
    seconds: int
    thirds: int
    total_races: int
    win_rate: Decimal | None = None
    top2_rate: Decimal | None = None
    place_rate: Decimal | None = None
    fourth_or_lower: int | None = None
    graded_rides: int | None = None
    graded_wins: int | None = None


@dataclass(frozen=True, slots=True)
class JockeyYear:
    """A jockey's statistics of one year on one circuit, with the rank among all jockeys."""

    year: int
    circuit: Circuit
    figures: JockeyFigures
    rank: int | None = None
    best_horse: str | None = None


@dataclass(frozen=True, slots=True)
class JockeyRecord:
    """A jockey's career and recent years.

    `overall_stats` and `recent_5year_stats` cover both circuits; `years` are newest first.
    """

    jockey_id: str
    jockey_name: str
    overall_stats: JockeyFigures
    recent_5year_stats: JockeyFigures | None = None
    kana: str | None = None
    born_on: date | None = None
    affiliation: str | None = None
    debut_year: int | None = None
    height_cm: int | None = None
    weight_kg: Decimal | None = None
    central: JockeyFigures | None = None
    local: JockeyFigures | None = None
    years: tuple[JockeyYear, ...] = ()


def parents_of(pedigree: Pedigree, *profiles: HorseProfile) -> Parents:
    """Return sire and dam, with their own records if their profiles are given."""
    known = {profile.horse_id: profile for profile in profiles}
    return Parents(pedigree.horse_id, _parent(pedigree.sire, known), _parent(pedigree.dam, known))


def _parent(horse: Ancestor | None, known: dict[str, HorseProfile]) -> Parent:
    if horse is None:
        return Parent()
    profile = known.get(horse.id or "")
    if profile is None:
        return Parent(horse.id, horse.name)
    return Parent(
        horse.id,
        horse.name or profile.horse_name,
        profile.earnings,
        profile.first,
        profile.second,
        profile.third,
        profile.fourth_or_lower,
        profile.earnings_central,
        profile.earnings_local,
    )
