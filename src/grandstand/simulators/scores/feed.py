"""Kept here: the score feed as one application: its addresses, its key, its budget, its manners."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Final

from grandstand.base.clock import Clock
from grandstand.simulators.asgi import (
    Application,
    Message,
    Receive,
    Send,
    answer_json,
    body_of,
)
from grandstand.simulators.blemishes import Blemishes
from grandstand.simulators.faults import Faults, Faulty
from grandstand.simulators.scores.asking import Asked, chosen, paged, parse_query, trimmed
from grandstand.simulators.scores.blemishes import Wrong, blemished
from grandstand.simulators.scores.budget import Budget
from grandstand.simulators.scores.catalogue import OnAir, rows_of
from grandstand.simulators.scores.control import BASE as CONTROL
from grandstand.simulators.scores.control import steered
from grandstand.simulators.scores.course import Course, timeline
from grandstand.simulators.scores.errors import AlreadyPlaying, ReplayUnknown
from grandstand.simulators.scores.library import find_course
from grandstand.simulators.scores.replay import Replay
from grandstand.simulators.scores.slips import slips
from grandstand.simulators.scores.tape import Tape
from grandstand.simulators.scores.words.fixtures import FixtureWords, refused_includes
from grandstand.simulators.scores.words.scores import Row

BASE: Final = "/api/v2.0"
TOKEN: Final = "simulated"  # noqa: S105 - opens nothing but this simulator
_REMEMBERED: Final = 10_000


@dataclass
class ScoreFeed:
    """The server. Matches are put on the air with `play`; `clock` is the wall of its visitors.

    Includes come wrapped as {"data": …} from the parts named in `wrapped`, as the real one does on
    some of its addresses.
    """

    clock: Clock
    token: str = TOKEN
    budget: Budget = field(init=False)
    faults: Faults = field(default_factory=lambda: Faults(Random(1)))  # noqa: S311 - repeatable
    blemishes: Blemishes[Wrong] = field(default_factory=Blemishes)
    wrapped: frozenset[str] = frozenset({"fixtures"})
    asked: deque[str] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    _on_air: dict[int, OnAir] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.budget = Budget(self.clock)

    def play(
        self,
        tape: Tape,
        *,
        starts_at: datetime | None = None,
        starts_in: timedelta = timedelta(0),
        speed: float = 1.0,
        match_id: int | None = None,
        course: Course | None = None,
        slip_seed: int | None = None,
    ) -> Replay:
        """Put a match on the air; it starts at a moment, or after a while, or now.

        With a `slip_seed`, one ball in seven is first posted wrong. Raises AlreadyPlaying.
        """
        course = course or find_course(tape.id) or Course()
        written = timeline(tape, course, None if slip_seed is None else slips(tape, slip_seed))
        starts_at = starts_at or self.clock.now() + starts_in
        replay = Replay(
            tape, written, self.clock, starts_at=starts_at, speed=speed, match_id=match_id
        )
        if replay.match_id in self._on_air:
            raise AlreadyPlaying(replay.match_id)
        self._on_air[replay.match_id] = OnAir(replay, FixtureWords(replay))
        return replay

    def find(self, match_id: int) -> Replay | None:
        """Answer a match on the air."""
        found = self._on_air.get(match_id)
        return found.replay if found else None

    def take_off(self, match_id: int) -> None:
        """Take a match off the air; raise ReplayUnknown when it is not on."""
        if self._on_air.pop(match_id, None) is None:
            raise ReplayUnknown(match_id)

    @property
    def replays(self) -> tuple[Replay, ...]:
        """All matches on the air."""
        return tuple(each.replay for each in self._on_air.values())

    @property
    def application(self) -> Application:
        """The ASGI application."""
        return Faulty(self._serve, self.faults)

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if path.startswith(f"{CONTROL}/"):
            await answer_json(send, *steered(self, scope["method"], path, await body_of(receive)))
            return
        if not path.startswith(f"{BASE}/"):
            await answer_json(send, 404, {"message": "no such address"})
            return
        parts = path.removeprefix(f"{BASE}/").strip("/").split("/")
        asked = parse_query(scope["query_string"].decode())
        self.asked.append(path.removeprefix(BASE))
        if asked.token != self.token:
            await answer_json(send, 401, {"message": "Unauthenticated."})
            return
        allowance = self.budget.spend(parts[0])
        headers = allowance.headers(self.clock.epoch())
        if allowance.refused:
            await answer_json(send, 429, {"message": "Too Many Attempts."}, headers)
            return
        status, told = self._told(parts, asked)
        if wrong := self.blemishes.strike(path.removeprefix(BASE)):
            told = blemished(wrong, told)
        await answer_json(send, status, told, headers)

    def _told(self, parts: list[str], asked: Asked) -> tuple[int, object]:
        about_fixtures = parts[0] in {"livescores", "fixtures"}
        refused = refused_includes(asked.includes) if about_fixtures else []
        if refused:
            return 400, {"message": f"Requested include(s) {', '.join(refused)} are not allowed."}
        data = self._fixtures(parts, asked) if about_fixtures else self._others(parts, asked)
        if data is None:
            return 404, {"message": "Resource not found."}
        return 200, {"data": trimmed(data, asked.fields) if asked.fields else data}

    def _fixtures(self, parts: list[str], asked: Asked) -> object:
        on_air: Iterable[OnAir] = self._on_air.values()
        match parts:
            case ["livescores"]:
                listed = [each for each in on_air if each.replay.is_listed]
                return chosen([self._row(each, asked, "livescores") for each in listed], asked)
            case ["fixtures"]:
                rows = chosen([each.words.row(each.replay.moment) for each in on_air], asked)
                page = [self._on_air[int(str(row["id"]))] for row in paged(rows, asked)]
                return [self._row(each, asked, "fixtures") for each in page]
            case ["fixtures", number] if number.isdecimal() and int(number) in self._on_air:
                return self._row(self._on_air[int(number)], asked, "fixture")
        return None

    def _row(self, each: OnAir, asked: Asked, part: str) -> Row:
        row = each.words.row(each.replay.moment, asked.includes)
        if part in self.wrapped:
            for name in {include.partition(".")[0] for include in asked.includes}:
                row[name] = {"data": row[name]}
        return row

    def _others(self, parts: list[str], asked: Asked) -> object:
        found = rows_of(parts, list(self._on_air.values()))
        return paged(chosen(found, asked), asked) if isinstance(found, list) else found
