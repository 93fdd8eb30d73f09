"""Kept here: the working sheet of one tick, on which the rules write what they find."""

from __future__ import annotations

from grandstand.apps.cricket.model.events.corrections import Heard
from grandstand.apps.cricket.model.events.kinds import ALERTING, Detected, EventKind
from grandstand.apps.cricket.model.events.thresholds import Thresholds
from grandstand.apps.cricket.model.scores import Ball, Fixture
from grandstand.apps.cricket.model.state import MatchState, Memory


class Told:
    """What was told of a match as a whole; rules change it as they tell more."""

    __slots__ = ("ended", "innings_ended", "note", "revision", "started", "super_overs", "tossed")

    def __init__(self, memory: Memory) -> None:
        self.innings_ended = memory.innings_ended
        self.super_overs = memory.super_overs
        self.started = memory.started
        self.ended = memory.ended
        self.tossed = memory.tossed
        self.revision = memory.revision
        self.note = memory.note

    def is_as_in(self, memory: Memory) -> bool:
        """Tell whether nothing more was told than is remembered."""
        return (
            self.note == memory.note
            and self.innings_ended == memory.innings_ended
            and self.super_overs == memory.super_overs
            and self.started == memory.started
            and self.ended == memory.ended
            and self.tossed == memory.tossed
            and self.revision == memory.revision
        )


class Tick:
    """One comparison of a match with what was kept of it; it lives as long as that takes."""

    __slots__ = (
        "fallen",
        "fixture",
        "found",
        "heard",
        "in_a_row",
        "inning",
        "known",
        "met",
        "overs_done",
        "peaks",
        "previous",
        "resync",
        "retracted",
        "thresholds",
        "told",
    )

    def __init__(
        self, previous: MatchState, fixture: Fixture, heard: Heard, thresholds: Thresholds
    ) -> None:
        memory = previous.memory
        self.previous = previous
        self.fixture = fixture
        self.heard = heard
        self.known = previous.balls
        self.thresholds = thresholds
        self.found: list[Detected] = []
        self.resync = bool(heard.changed or heard.deleted)
        self.inning = memory.inning
        self.overs_done = memory.overs_done
        self.fallen = dict(memory.fallen)
        self.met = list(memory.met)
        self.peaks = dict(memory.peaks)
        self.in_a_row = dict(memory.in_a_row)
        self.retracted = list(memory.retracted)
        self.told = Told(memory)

    def enter(self, inning: int) -> None:
        """Turn to the next innings: what belonged to the last one is forgotten.

        A bowler's wickets in a row go on, since a hat-trick may span two innings.
        """
        self.inning = inning
        self.overs_done = 0
        self.fallen = {}
        self.met = []
        self.peaks = {}
        self.in_a_row = {name: n for name, n in self.in_a_row.items() if name.startswith("h")}

    def find(
        self,
        kind: EventKind,
        key: str,
        text: str,
        *,
        ball: Ball | None = None,
        position: int | None = None,
        player_id: int | None = None,
        value: int | None = None,
        alert: bool = True,
        inning: int | None = None,
    ) -> None:
        """Write down that something happened, in the innings looked at unless it says otherwise."""
        if position is None:
            position = ball.position if ball else self.position
        self.found.append(
            Detected(
                kind=kind,
                key=f"{kind}:{key}" if key else kind,
                text=text,
                inning=inning or self.inning,
                position=position,
                ball_id=ball.id if ball else None,
                player_id=player_id,
                value=value,
                alert=alert and kind in ALERTING,
            )
        )

    @property
    def position(self) -> int:
        """How far the innings is, in legal balls."""
        score = self.fixture.score_of(self.inning)
        return score.position if score else 0

    @property
    def standing(self) -> str:
        """The innings in a few words: AUS 94-4 (12.3)."""
        score = self.fixture.score_of(self.inning)
        if score is None:
            return ""
        side = self.fixture.side(score.team_id)
        code = (side.code or side.name) if side else ""
        return f"{code} {score.score}-{score.wickets} ({score.overs})".strip()

    def batter(self, player_id: int | None) -> str:
        """A batter's name, or a word for one."""
        return self.fixture.player(player_id) or "The batter"

    def bowler(self, player_id: int | None) -> str:
        """A bowler's name, or a word for one."""
        return self.fixture.player(player_id) or "The bowler"

    def memory(self) -> Memory:
        """Answer what is to be remembered: the same as before where nothing is new."""
        known, told = self.previous.memory, self.told
        if (
            self.in_a_row == known.in_a_row
            and self.overs_done == known.overs_done
            and self.inning == known.inning
            and self.fallen == known.fallen
            and self.peaks == known.peaks
            and len(self.met) == len(known.met)
            and not (self.retracted or known.retracted)
            and told.is_as_in(known)
        ):
            return known
        return Memory(
            self.inning,
            self.overs_done,
            self.fallen,
            tuple(self.met),
            self.peaks,
            self.in_a_row,
            tuple(self.retracted),
            told.innings_ended,
            told.super_overs,
            told.started,
            told.ended,
            told.tossed,
            told.revision,
            told.note,
        )
