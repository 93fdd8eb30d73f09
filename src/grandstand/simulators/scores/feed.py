"""The score feed as an ASGI application, with token, quota and query parameters."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final
from urllib.parse import parse_qsl

from grandstand.core.clock import Clock
from grandstand.core.errors import Conflict, NotFound
from grandstand.simulators.asgi import Application, Message, Receive, Send, read_body, send_json
from grandstand.simulators.faults import Faults, Faulty
from grandstand.simulators.malformed import MalformedReplies
from grandstand.simulators.scores.control import BASE as CONTROL
from grandstand.simulators.scores.control import Malformation, handle_control_request, malform
from grandstand.simulators.scores.match_record import MatchRecord
from grandstand.simulators.scores.matches import find_timeline_config
from grandstand.simulators.scores.resources import find_rows
from grandstand.simulators.scores.serializers import (
    FixtureSerializer,
    Row,
    find_unknown_includes,
)
from grandstand.simulators.scores.timeline import (
    Replay,
    TimelineConfig,
    build_timeline,
    random_corrections,
)

PAGE_ROWS: Final = 100


@dataclass(frozen=True, slots=True)
class FeedQuery:
    """The query parameters of a request."""

    token: str = ""
    includes: tuple[str, ...] = ()
    filters: dict[str, str] = field(default_factory=dict)
    fields: dict[str, frozenset[str]] = field(default_factory=dict)
    sort: str = ""
    page: int = 1


def parse_query(query: str) -> FeedQuery:
    """Return the query parameters; unknown ones are ignored."""
    params = dict(parse_qsl(query))
    page = params.get("page", "1")
    return FeedQuery(
        token=params.get("api_token", ""),
        includes=tuple(filter(None, params.get("include", "").split(","))),
        filters=_bracketed(params, "filter"),
        fields={
            name: frozenset(each.split(",")) for name, each in _bracketed(params, "fields").items()
        },
        sort=params.get("sort", ""),
        page=max(1, int(page)) if page.isdecimal() else 1,
    )


def filter_rows(rows: Sequence[Row], query: FeedQuery) -> list[Row]:
    """Return the rows that pass every filter, sorted."""
    found = [row for row in rows if all(_passes(row, *each) for each in query.filters.items())]
    name = query.sort.removeprefix("-")
    if name:
        found.sort(key=lambda row: str(row.get(name, "")), reverse=query.sort.startswith("-"))
    return found


def paginate(rows: Sequence[Row], query: FeedQuery) -> list[Row]:
    """Return one page, empty after the last."""
    start = (query.page - 1) * PAGE_ROWS
    return list(rows[start : start + PAGE_ROWS])


def select_fields(value: object, fields: dict[str, frozenset[str]]) -> object:
    """Return rows with the selected fields; includes stay."""
    if isinstance(value, list):
        return [select_fields(each, fields) for each in value]
    if not isinstance(value, dict):
        return value
    wanted = fields.get(str(value.get("resource", "")))
    return {
        name: select_fields(each, fields)
        for name, each in value.items()
        if wanted is None or name in wanted or name == "resource" or isinstance(each, dict | list)
    }


def _bracketed(params: dict[str, str], prefix: str) -> dict[str, str]:
    return {
        name[len(prefix) + 1 : -1]: value
        for name, value in params.items()
        if name.startswith(f"{prefix}[") and name.endswith("]")
    }


def _passes(row: Row, name: str, value: str) -> bool:
    if name == "starts_between":
        first, _, last = value.partition(",")
        return _moment(first) <= _moment(str(row.get("starting_at"))) <= _moment(last, is_end=True)
    return name not in row or str(row[name]) in value.split(",")


def _moment(text: str, *, is_end: bool = False) -> datetime:
    """Return a time; a date is its start, or with `is_end` its end."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)
    if is_end and "T" not in text:
        moment += timedelta(days=1) - timedelta(microseconds=1)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    """The quota of an endpoint group after a request; `refused` if it is exhausted."""

    limit: int
    remaining: int
    resets_at: float
    refused: bool

    def headers(self, now: float) -> list[tuple[bytes, bytes]]:
        """Return the rate limit headers."""
        values = {
            "x-ratelimit-limit": self.limit,
            "x-ratelimit-remaining": self.remaining,
            "x-ratelimit-reset": math.ceil(self.resets_at),
        }
        if self.refused:
            values["retry-after"] = max(1, math.ceil(self.resets_at - now))
        return [(name.encode(), str(value).encode()) for name, value in values.items()]


@dataclass
class HourlyBudget:
    """Hourly quotas per endpoint group, from the first request on.

    `exhausted` counts windows that were used up, `refused` the requests after that.
    """

    clock: Clock
    hourly: int = 2000
    window_seconds: float = 3600.0
    exhausted: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    _windows: dict[str, tuple[float, int]] = field(default_factory=dict)

    def spend(self, part: str) -> BudgetStatus:
        """Count a request."""
        now = self.clock.epoch()
        began, used = self._windows.get(part, (now, 0))
        if now >= began + self.window_seconds:
            began, used = now, 0
        refused = used >= self.hourly
        used += not refused
        self._windows[part] = began, used
        if refused:
            self.refused[part] += 1
        elif used == self.hourly:
            self.exhausted[part] += 1
        return BudgetStatus(self.hourly, self.hourly - used, began + self.window_seconds, refused)

    @property
    def used(self) -> dict[str, int]:
        """The requests in the current windows."""
        return {part: used for part, (_, used) in self._windows.items()}


BASE: Final = "/api/v2.0"
TOKEN: Final = "simulated"  # noqa: S105 - opens nothing but this simulator


@dataclass
class ScoreFeed:
    """The server; `play` adds a match.

    Includes are wrapped as {"data": …} in the endpoints named in `wrapped`, as the real feed
    does in some.
    """

    clock: Clock
    token: str = TOKEN
    budget: HourlyBudget = field(init=False)
    faults: Faults = field(default_factory=lambda: Faults(Random(1)))  # noqa: S311 - repeatable
    malformed: MalformedReplies[Malformation] = field(default_factory=MalformedReplies)
    wrapped: frozenset[str] = frozenset({"fixtures"})
    requests: deque[str] = field(default_factory=lambda: deque(maxlen=10_000))
    _serializers: dict[int, FixtureSerializer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.budget = HourlyBudget(self.clock)

    def play(
        self,
        record: MatchRecord,
        *,
        starts_at: datetime | None = None,
        starts_in: timedelta = timedelta(0),
        speed: float = 1.0,
        match_id: int | None = None,
        config: TimelineConfig | None = None,
        correction_seed: int | None = None,
    ) -> Replay:
        """Add a replay that starts at a time, after a delay, or now.

        With a `correction_seed`, one ball in seven is first posted wrong. Raises Conflict.
        """
        config = config or find_timeline_config(record.id) or TimelineConfig()
        written = build_timeline(
            record,
            config,
            None if correction_seed is None else random_corrections(record, correction_seed),
        )
        starts_at = starts_at or self.clock.now() + starts_in
        replay = Replay(
            record, written, self.clock, starts_at=starts_at, speed=speed, match_id=match_id
        )
        if replay.match_id in self._serializers:
            raise Conflict(f"Match {replay.match_id} is being replayed already.")
        self._serializers[replay.match_id] = FixtureSerializer(replay)
        return replay

    def find(self, match_id: int) -> Replay | None:
        """Return a replay, if it exists."""
        found = self._serializers.get(match_id)
        return found.replay if found else None

    def take_off(self, match_id: int) -> None:
        """Remove a replay. Raises NotFound."""
        if self._serializers.pop(match_id, None) is None:
            raise NotFound(f"No match {match_id} is being replayed.")

    @property
    def replays(self) -> tuple[Replay, ...]:
        """All replays."""
        return tuple(each.replay for each in self._serializers.values())

    @property
    def application(self) -> Application:
        """The ASGI application."""
        return Faulty(self._serve, self.faults)

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if path.startswith(f"{CONTROL}/"):
            await send_json(
                send, *handle_control_request(self, scope["method"], path, await read_body(receive))
            )
            return
        if not path.startswith(f"{BASE}/"):
            await send_json(send, 404, {"message": "Not found."})
            return
        parts = path.removeprefix(f"{BASE}/").strip("/").split("/")
        query = parse_query(scope["query_string"].decode())
        self.requests.append(path.removeprefix(BASE))
        if query.token != self.token:
            await send_json(send, 401, {"message": "Unauthenticated."})
            return
        allowance = self.budget.spend(parts[0])
        headers = allowance.headers(self.clock.epoch())
        if allowance.refused:
            await send_json(send, 429, {"message": "Too Many Attempts."}, headers)
            return
        status, body = self._respond(parts, query)
        if wrong := self.malformed.strike(path.removeprefix(BASE)):
            body = malform(wrong, body)
        await send_json(send, status, body, headers)

    def _respond(self, parts: list[str], query: FeedQuery) -> tuple[int, object]:
        about_fixtures = parts[0] in {"livescores", "fixtures"}
        refused = find_unknown_includes(query.includes) if about_fixtures else []
        if refused:
            return 400, {"message": f"Requested include(s) {', '.join(refused)} are not allowed."}
        data = self._fixtures(parts, query) if about_fixtures else find_rows(parts, self.replays)
        if isinstance(data, list) and not about_fixtures:
            data = paginate(filter_rows(data, query), query)
        if data is None:
            return 404, {"message": "Resource not found."}
        return 200, {"data": select_fields(data, query.fields) if query.fields else data}

    def _fixtures(self, parts: list[str], query: FeedQuery) -> object:
        serializers = self._serializers
        match parts:
            case ["livescores"]:
                listed = [each for each in serializers.values() if each.replay.is_listed]
                return filter_rows([self._row(each, query, "livescores") for each in listed], query)
            case ["fixtures"]:
                moments = [each.row(each.replay.moment) for each in serializers.values()]
                page = paginate(filter_rows(moments, query), query)
                return [
                    self._row(serializers[int(str(row["id"]))], query, "fixtures") for row in page
                ]
            case ["fixtures", number] if number.isdecimal() and int(number) in serializers:
                return self._row(serializers[int(number)], query, "fixture")
        return None

    def _row(self, serializer: FixtureSerializer, query: FeedQuery, part: str) -> Row:
        row = serializer.row(serializer.replay.moment, query.includes)
        if part in self.wrapped:
            for name in {include.partition(".")[0] for include in query.includes}:
                row[name] = {"data": row[name]}
        return row
