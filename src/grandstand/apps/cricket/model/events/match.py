"""Kept here: what the status and the facts of a match tell: start, pauses, innings and end."""

from __future__ import annotations

from typing import Final

from grandstand.apps.cricket.model.events.kinds import EventKind
from grandstand.apps.cricket.model.events.tick import Tick
from grandstand.apps.cricket.model.phases import (
    FINISHED,
    Pause,
    is_long,
    pause_of,
    phase_of,
    regular_innings,
)
from grandstand.apps.cricket.model.scores import Fixture
from grandstand.apps.cricket.model.state import NOTE_CHARS
from grandstand.apps.cricket.model.targets import is_complete

_BREAKS: Final[dict[Pause, tuple[EventKind, str]]] = {
    "stumps": ("stumps", "Stumps"),
    "lunch": ("lunch", "Lunch"),
    "tea": ("tea", "Tea"),
    "dinner": ("dinner", "Dinner"),
}
_FEWEST_INNINGS: Final = 2
_NAMES: Final = {1: "1st", 2: "2nd", 3: "3rd"}


def fact_events(tick: Tick) -> None:
    """Find what happened to the match as a whole.

    To be asked last, when the tick has come to the innings played.
    """
    fixture, told = tick.fixture, tick.told
    told.note = fixture.note[:NOTE_CHARS]
    if fixture.toss_team_id is not None and not told.tossed:
        _toss(tick)
    if fixture.revision:
        _revision(tick)
    if fixture.status != tick.previous.status:
        _status(tick)
    if fixture.super_over or tick.inning > _FEWEST_INNINGS:
        _super_over(tick)
    if told.innings_ended < tick.inning:
        _innings_ended(tick)
    if not told.ended and phase_of(fixture.status) == "ended":
        told.ended = True
        tick.find("match_end", "", _result(fixture))


def _toss(tick: Tick) -> None:
    fixture = tick.fixture
    side = fixture.side(fixture.toss_team_id)
    winner = (side.name or side.code) if side else "One side"
    chose = f" and chose {fixture.elected}" if fixture.elected else ""
    tick.told.tossed = True
    tick.find("toss", "", f"{winner} won the toss{chose}", position=0, inning=1)


def _status(tick: Tick) -> None:
    """Look at a status that differs from the last one."""
    fixture, told, before = tick.fixture, tick.told, pause_of(tick.previous.status)
    place = f"{tick.inning}:{tick.position}"
    pause, phase = pause_of(fixture.status), phase_of(fixture.status)
    began = not told.started and (phase == "live" or bool(tick.position))
    if began:
        told.started = True
        tick.find("match_start", "", f"{_names(fixture)}: play begins", position=0, inning=1)
    if phase == "live" and before == "rain" and not began:
        tick.find("play_resumed", place, f"Play resumes: {tick.standing}".rstrip(": "))
    elif pause == "rain" and before != "rain":
        tick.find("rain_delay", place, f"Play is held up: {tick.standing}".rstrip(": "))
    elif pause in _BREAKS:
        kind, word = _BREAKS[pause]
        tick.find(kind, place, f"{word}: {tick.standing}".rstrip(": "))


def _revision(tick: Tick) -> None:
    revision, told = tick.fixture.revision, tick.told
    if revision.text == told.revision:
        return
    told.revision = revision.text
    text = f"Target revised to {revision.target}" if revision.target else "Match shortened"
    if revision.overs:
        text = f"{text}{' in' if revision.target else ' to'} {revision.overs} overs"
    tick.find("target_revised", revision.text, text, value=revision.target)


def _super_over(tick: Tick) -> None:
    fixture, told = tick.fixture, tick.told
    if is_long(fixture.format):
        return
    regular = regular_innings(fixture.format)
    number = max(int(fixture.super_over), (tick.inning - regular + 1) // 2)
    for each in range(told.super_overs + 1, number + 1):
        text = "Super over" if each == 1 else f"The {_nth(each)} super over"
        tick.find("super_over_start", str(each), text, value=each)
    told.super_overs = max(told.super_overs, number)


def _innings_ended(tick: Tick) -> None:
    fixture, now, told = tick.fixture, tick.inning, tick.told
    ended = now - 1
    score = fixture.score_of(now)
    if score is not None:
        entered = fixture.status != tick.previous.status and pause_of(fixture.status) == "innings"
        decided = fixture.winner_team_id is not None and fixture.status == FINISHED
        if entered or decided or is_complete(fixture, score):
            ended = now
    for inning in range(told.innings_ended + 1, ended + 1):
        _tell_innings(tick, inning)
    told.innings_ended = max(told.innings_ended, ended)


def _tell_innings(tick: Tick, inning: int) -> None:
    score = tick.fixture.score_of(inning)
    side = tick.fixture.side(score.team_id) if score else None
    figures = f": {side.code or side.name} {score.score}-{score.wickets}" if score and side else ""
    text = f"End of the {_nth(inning)} innings{figures}"
    place = score.position if score else 0
    tick.find("innings_end", str(inning), text, position=place, value=inning, inning=inning)


def _result(fixture: Fixture) -> str:
    if fixture.note:
        return fixture.note
    if fixture.no_result:
        return fixture.no_result
    winner = fixture.side(fixture.winner_team_id)
    if winner:
        return f"{winner.name or winner.code} won"
    return {"fin": "The match is over", "aba": "Abandoned"}.get(fixture.status[:3].lower(), "Off")


def _names(fixture: Fixture) -> str:
    home, away = fixture.home, fixture.away
    return f"{home.code or home.name} v {away.code or away.name}"


def _nth(number: int) -> str:
    return _NAMES.get(number, f"{number}th")
