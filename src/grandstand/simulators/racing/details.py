"""Kept here: what a result tells of a runner beside the finish: sections, passing, body weight."""

from __future__ import annotations

from typing import Final

from grandstand.simulators.racing.chance import chance
from grandstand.simulators.racing.population import Horse
from grandstand.simulators.racing.running import Race

_LONG_METRES: Final = 1_600
_LAST_SECONDS: Final = {"turf": 35.2, "dirt": 37.4, "jump": 39.0}
_UNWEIGHED: Final = 0.004
_GROWTH: Final = 6


def passing(race: Race, at: int) -> str:
    """Answer the positions at the corners, empty for one that did not finish."""
    place = race.finish.places[at]
    if place is None:
        return ""
    draw, size = chance(race.seed, "passing", race.race_id, at), len(race.running)
    corners = 4 if race.terms.metres >= _LONG_METRES else 2
    wanted = [place + draw.gauss(0, 1.5 + corner) for corner in range(corners)]
    return "-".join(str(min(size, max(1, round(one)))) for one in reversed(wanted))


def last_seconds(race: Race, at: int) -> str:
    """Answer the time over the last 600 metres, empty for one that did not finish."""
    if race.finish.places[at] is None:
        return ""
    luck = chance(race.seed, "last", race.race_id, at).gauss(0, 0.4)
    gained = 0.2 * (race.finish.performances[at] - race.finish.strengths[at])
    return f"{_LAST_SECONDS[race.terms.surface] - gained + luck:.1f}"


def pace(race: Race) -> str:
    """Answer the leader's first and last 600 metres."""
    draw = chance(race.seed, "sections", race.race_id)
    usual = _LAST_SECONDS[race.terms.surface]
    return f"{draw.gauss(usual, 0.8):.1f}-{draw.gauss(usual, 0.8):.1f}"


def kilograms(seed: int, horse: Horse, race_id: str, year: int) -> int | None:
    """Answer what a horse weighed before a race, None when the scales failed."""
    draw = chance(seed, "weighed", horse.id, race_id)
    if draw.random() < _UNWEIGHED:
        return None
    grown = _GROWTH * min(year - horse.foaled - 2, 2)
    return horse.kilograms + grown + 2 * round(draw.gauss(0, 2.5))


def clock_words(seconds: float | None) -> str:
    """Answer a time as minutes, seconds and tenths; empty without one."""
    if seconds is None:
        return ""
    tenths = round(seconds * 10)
    return f"{tenths // 600}:{tenths // 10 % 60:02}.{tenths % 10}"
