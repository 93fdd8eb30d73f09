"""Simulated seasons as the values of keiba: cards and form as known on the day, and the truth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import groupby
from typing import Final

from grandstand.apps.keiba.domain.backtest import Forecast, log_loss
from grandstand.apps.keiba.domain.form import Entry, Figures, compute_figures, learn_background
from grandstand.apps.keiba.domain.horses import (
    Form,
    JockeyFigures,
    JockeyRecord,
    Parent,
    Parents,
    PastRun,
)
from grandstand.apps.keiba.domain.races import Going, Outcome, RaceCard, Runner
from grandstand.apps.keiba.domain.ranking import WEIGHTS, Factor, Rating, Weight, rate
from grandstand.core.errors import InvalidInput
from grandstand.simulators.racing.race import Race, final_quotes
from grandstand.simulators.racing.world import World

_GOINGS: Final[tuple[Going, ...]] = ("firm", "good", "yielding", "soft")
_OUTCOMES: Final[Mapping[str, Outcome]] = {
    "取消": "withdrawn",
    "除外": "excluded",
    "中止": "stopped",
    "失格": "disqualified",
}
_SEASONS_BEFORE: Final = 2


@dataclass(frozen=True)
class Simulated:
    """A race before the off, the order in which its entries came in, and their true chances.

    Winners and the placed are positions among the entries; `first_three` holds one for each place.
    """

    card: RaceCard
    held_on: date
    entries: tuple[Entry, ...]
    winners: tuple[int, ...]
    first_three: tuple[int, ...]
    truth: tuple[float, ...]
    odds: tuple[Decimal, ...]


@dataclass(frozen=True)
class Measured:
    """A race with the figures of its runners."""

    race: Simulated
    field: tuple[Figures, ...]


def season(seed: int, year: int, *, every: int = 1) -> Iterator[Simulated]:
    """One race in `every` of a central season, after two seasons that gave the horses form."""
    world = World(seed, year - _SEASONS_BEFORE)
    first = date(world.first_year, 1, 1)
    runs: dict[str, list[PastRun]] = {}
    rides: dict[str, list[int]] = {}
    met = 0
    races = world.races_between("jra", first, date(year, 12, 31))
    for held_on, day in groupby(races, key=lambda race: race.slot.meeting.held_on):
        today = list(day)
        for race in today if held_on.year == year else ():
            met += 1
            if met % every == 0:
                yield _before(race, runs, rides)
        for race in today:
            _remember(race, runs, rides)


def measured(races: Iterable[Simulated]) -> list[Measured]:
    """Races with figures, learnt from nothing but the form of their own runners."""
    found = []
    for race in races:
        forms = [entry.form for entry in race.entries if entry.form is not None]
        parents = [entry.parents for entry in race.entries if entry.parents is not None]
        background = learn_background(forms, before=race.held_on, parents=parents)
        field = tuple(
            compute_figures(entry, race.card, background, on=race.held_on) for entry in race.entries
        )
        found.append(Measured(race, field))
    return found


@dataclass(frozen=True, slots=True)
class KnownForecast(Forecast):
    """A forecast of a simulated race, with its true win probabilities."""

    truth: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class GapClosed:
    """The position of forecasts between uniform (0) and true probabilities (1).

    `standard_error` is that of `share` over the races.
    """

    races: int
    uniform_loss: float
    our_loss: float
    true_loss: float
    share: float
    standard_error: float


def gap_closed(forecasts: Sequence[KnownForecast]) -> GapClosed:
    """Return how much of the log loss between uniform and true probabilities forecasts save.

    Raises InvalidInput without forecasts, and if the truth is no better than uniform probabilities.
    """
    uniform, true = (
        [log_loss([Forecast(chances, each.winners)]) for each, chances in pairs]
        for pairs in (
            [(each, (1 / len(each.chances),) * len(each.chances)) for each in forecasts],
            [(each, each.truth) for each in forecasts],
        )
    )
    ours = [log_loss([each]) for each in forecasts]
    our_loss = log_loss(forecasts)
    uniform_loss, true_loss = (math.fsum(losses) / len(losses) for losses in (uniform, true))
    gap = uniform_loss - true_loss
    if not gap > 0:
        raise InvalidInput("The true probabilities must be better than uniform ones.")
    share = (uniform_loss - our_loss) / gap
    # The share is a ratio of means, so its error is that of the residuals over the gap.
    residuals = [
        (even - own) - share * (even - best)
        for even, own, best in zip(uniform, ours, true, strict=True)
    ]
    spread = math.sqrt(math.fsum(value * value for value in residuals)) / len(residuals)
    return GapClosed(
        races=len(forecasts),
        uniform_loss=uniform_loss,
        our_loss=our_loss,
        true_loss=true_loss,
        share=share,
        standard_error=spread / gap,
    )


def forecasts(
    races: Sequence[Measured], weights: Mapping[Factor, Weight] = WEIGHTS
) -> list[KnownForecast]:
    """What the ranking says of races, beside what happened and the truth."""
    return [forecast(each, rate(each.field, weights=weights)) for each in races]


def forecast(race: Measured, ratings: Sequence[Rating]) -> KnownForecast:
    """What the ratings of a race say, beside what happened and the truth."""
    chances = tuple(rating.placing.win for rating in ratings)
    return KnownForecast(chances, race.race.winners, race.race.truth)


def _before(
    race: Race, runs: Mapping[str, list[PastRun]], rides: Mapping[str, list[int]]
) -> Simulated:
    card, quotes = _card(race), final_quotes(race)
    entries = tuple(
        Entry(card.horses[at], _form(race, at, runs), _jockey(race, at, rides), _parents(race, at))
        for at in race.running
    )
    places = [race.finish.places[at] for at in race.running]
    return Simulated(
        card=card,
        held_on=race.slot.meeting.held_on,
        entries=entries,
        winners=tuple(at for at, place in enumerate(places) if place == 1),
        first_three=tuple(race.running.index(at) for at in race.order[:3]),
        truth=tuple(race.truth[at + 1] for at in race.running),
        odds=tuple(Decimal(str(quotes.win[at + 1])) for at in race.running),
    )


def _card(race: Race) -> RaceCard:
    meeting, terms = race.slot.meeting, race.terms
    return RaceCard(
        race_id=race.race_id,
        race_name=terms.name,
        horses=tuple(_runner(race, at) for at in range(len(race.horses))),
        distance=terms.metres,
        track_type=terms.surface,
        track_name=meeting.track.name,
        race_date=meeting.held_on,
        going=_GOINGS[meeting.going(terms.surface)],
        grade=terms.grade,
        race_class=terms.rank,
        prize_money=tuple(Decimal(str(prize)) for prize in terms.prizes),
    )


def _runner(race: Race, at: int) -> Runner:
    return Runner(
        horse_id=race.horses[at].id,
        horse_name=race.horses[at].name,
        jockey_id=race.finish.jockeys[at].id,
        horse_number=at + 1,
        carried_weight=Decimal(str(race.carried(at))),
        scratched=not race.finish.started(at),
    )


def _form(race: Race, at: int, runs: Mapping[str, list[PastRun]]) -> Form:
    horse = race.horses[at]
    return Form(horse.id, horse.name, tuple(reversed(runs.get(horse.id, []))))


def _jockey(race: Race, at: int, rides: Mapping[str, list[int]]) -> JockeyRecord | None:
    jockey = race.finish.jockeys[at]
    counted = rides.get(jockey.id)
    return None if counted is None else JockeyRecord(jockey.id, jockey.name, _stats(counted))


def _stats(counted: list[int]) -> JockeyFigures:
    first, second, third, starts = counted
    return JockeyFigures(wins=first, seconds=second, thirds=third, total_races=starts)


def _parents(race: Race, at: int) -> Parents:
    horse = race.horses[at]
    return Parents(horse.id, Parent(id=horse.sire.id), Parent(id=horse.dam.id))


def _remember(race: Race, runs: dict[str, list[PastRun]], rides: dict[str, list[int]]) -> None:
    for at, horse in enumerate(race.horses):
        runs.setdefault(horse.id, []).append(_past(race, at))
    for at in race.running:
        counted = rides.setdefault(race.finish.jockeys[at].id, [0, 0, 0, 0])
        counted[3] += 1
        place = race.finish.places[at]
        if place is not None and place <= 3:
            counted[place - 1] += 1


def _past(race: Race, at: int) -> PastRun:
    meeting, terms = race.slot.meeting, race.terms
    taken, behind = race.seconds(at), race.behind(at)
    return PastRun(
        run_on=meeting.held_on,
        track=meeting.track.name,
        race_name=terms.name if terms.grade is None else f"{terms.name}({terms.grade})",
        distance=terms.metres,
        position=race.finish.places[at],
        margin=None if behind is None else f"{behind:.1f}",
        race_id=race.race_id,
        track_type=terms.surface,
        going=_GOINGS[meeting.going(terms.surface)],
        runner_count=len(race.running),
        outcome=_OUTCOMES.get(race.finish.words[at], "finished"),
        jockey_id=race.finish.jockeys[at].id,
        carried_weight=Decimal(str(race.carried(at))),
        time_seconds=None if taken is None else Decimal(str(taken)),
        prize=Decimal(str(race.prize(at))),
    )
