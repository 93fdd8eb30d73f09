"""The simulated site as an ASGI application with three hosts."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import pairwise
from random import Random
from threading import Lock
from typing import Final, Literal, TypeAlias
from urllib.parse import parse_qs

import msgspec

from grandstand.core.clock import Clock
from grandstand.simulators.asgi import (
    Application,
    Message,
    Receive,
    Send,
    read_body,
    send_json,
    send_response,
)
from grandstand.simulators.faults import CONTROL as FAULTS
from grandstand.simulators.faults import Faults, Faulty
from grandstand.simulators.malformed import MalformedReplies, MalformedReply
from grandstand.simulators.racing.html_pages import (
    Addresses,
    Columns,
    card,
    date_list,
    day_list,
    document,
    headline,
    jockey_page,
    odds_json,
    odds_tables,
    pedigree,
    profile,
    result,
    results,
    runs_of,
    shell,
)
from grandstand.simulators.racing.population import Ancestor, Horse
from grandstand.simulators.racing.race import Race
from grandstand.simulators.racing.racecourses import JST, Circuit
from grandstand.simulators.racing.world import World

Host: TypeAlias = Literal["race", "nar", "db"]


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One request: monotonic time, host, path with query, user agent."""

    at: float
    host: Host
    path: str
    agent: str


@dataclass
class AccessLog:
    """Recent requests, and the number of concurrent ones per host."""

    requests: deque[LoggedRequest] = field(default_factory=lambda: deque(maxlen=20_000))
    concurrent: dict[Host, int] = field(default_factory=dict)
    max_concurrent: dict[Host, int] = field(default_factory=dict)

    def begin(self, arrival: LoggedRequest) -> float | None:
        """Record a request and return the seconds since the previous one of its host."""
        last = next((one for one in reversed(self.requests) if one.host == arrival.host), None)
        self.requests.append(arrival)
        now = self.concurrent.get(arrival.host, 0) + 1
        self.concurrent[arrival.host] = now
        self.max_concurrent[arrival.host] = max(now, self.max_concurrent.get(arrival.host, 0))
        return None if last is None else arrival.at - last.at

    def end(self, host: Host) -> None:
        """Record the end of a request."""
        self.concurrent[host] -= 1

    def on(self, host: Host) -> list[LoggedRequest]:
        """Return a host's requests, oldest first."""
        return [arrival for arrival in self.requests if arrival.host == host]

    def gaps(self, host: Host) -> list[float]:
        """Return the seconds between a host's requests."""
        return [later.at - sooner.at for sooner, later in pairwise(self.on(host))]


Malformation: TypeAlias = Literal[
    "truncated", "empty", "captcha", "wrong letters", "no table", "huge", "denied", "bad request"
]

MALFORMED_PATH: Final = "/simulator/pages"
_CAPTCHA: Final = (
    '<!DOCTYPE html><html><head><meta charset="UTF-8"><title>Verify</title></head><body>'
    '<form id="captcha-form"><p>ロボットではないことを確認してください</p>'
    '<div class="g-recaptcha"></div></form></body></html>'
)
_STATUSES: Final[dict[Malformation, int]] = {"denied": 403, "bad request": 400}


def malform(wrong: Malformation, body: bytes, encoding: str) -> tuple[int, bytes]:
    """Return status and body of a malformed page."""
    if wrong in _STATUSES:
        return _STATUSES[wrong], b"<html><body><h1>Access denied</h1></body></html>"
    if wrong == "truncated":
        return 200, body[: len(body) // 2]
    if wrong == "empty":
        return 200, b""
    if wrong == "captcha":
        return 200, _CAPTCHA.encode()
    if wrong == "huge":
        return 200, body + b"<!-- " + b"x" * 10 * 1024 * 1024 + b" -->"
    if wrong == "wrong letters":
        other = "cp932" if encoding != "cp932" else "utf-8"
        return 200, body.decode(encoding, "replace").encode(other, "replace")
    return 200, body.replace(b"<table", b"<section").replace(b"</table", b"</section")


_CIRCUITS: Final[dict[Host, Circuit]] = {"race": "jra", "nar": "nar"}


@dataclass(frozen=True, slots=True)
class SiteFormat:
    """Encoding and table width of the site, which changed in 2026.

    With `declares_charset` the encoding is also in the HTTP header, except on the db host.
    """

    race_encoding: str = "UTF-8"
    db_encoding: str = "EUC-JP"
    columns: Columns = 33
    declares_charset: bool = True

    @classmethod
    def of_2025(cls) -> SiteFormat:
        """Return the format before the change."""
        return cls(race_encoding="EUC-JP", columns=29, declares_charset=False)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page request at a simulated time."""

    host: Host
    path: str
    query: dict[str, str]
    now: datetime
    addresses: Addresses


@dataclass(frozen=True, slots=True)
class Page:
    """A page as text, with its encoding."""

    text: str
    encoding: str = "UTF-8"
    media: str = "text/html"
    declares_charset: bool = True
    status: int = 200

    @property
    def body(self) -> bytes:
        """The encoded page; characters outside the encoding become references."""
        return self.text.encode(self.encoding, "xmlcharrefreplace")

    @property
    def content_type(self) -> str:
        """The Content-Type header."""
        return f"{self.media}; charset={self.encoding}" if self.declares_charset else self.media


def render_page(world: World, form: SiteFormat, request: PageRequest) -> Page | None:
    """Return the requested page; None if there is none."""
    return _Renderer(world, form, request).render()


@dataclass(frozen=True, slots=True)
class _Renderer:
    """Renders one page of the site."""

    world: World
    form: SiteFormat
    request: PageRequest

    def render(self) -> Page | None:
        request = self.request
        if request.host == "db":
            return self._db_page()
        circuit = _CIRCUITS[request.host]
        if request.path.startswith("/top/") or request.path == "/":
            return self._day_page(circuit)
        race = self._race(request.query.get("race_id", ""))
        if race is None or race.slot.meeting.circuit != circuit:
            return None
        return self._race_page(race)

    def _day_page(self, circuit: Circuit) -> Page | None:
        day = _day(self.request.query.get("kaisai_date"), self.request.now)
        if day is None:
            return None
        match self.request.path:
            case "/top/race_list_sub.html":
                return Page(day_list(self.world, circuit, day, self.request.now))
            case "/top/race_list_get_date_list.html":
                return Page(date_list(self.world, circuit, day))
            case "/" | "/top/" | "/top/race_list.html":
                return self._race_document("レース一覧", shell(day))
        return None

    def _race_page(self, race: Race) -> Page | None:
        request, now = self.request, self.request.now
        match request.path:
            case "/race/shutuba.html":
                body = card(self.world, race, now, request.addresses)
                return self._race_document(_dated_title(race), body)
            case "/race/result.html":
                body = result(self.world, race, now, request.addresses)
                return self._race_document(_dated_title(race), body)
            case "/api/api_get_jra_odds.html" if request.host == "race":
                return _json_page(odds_json(race, now))
            case "/odds/index.html" if request.host == "nar":
                return self._race_document(race.title, odds_tables(race, now))
        return None

    def _db_page(self) -> Page | None:
        request = self.request
        match request.path.strip("/").split("/"):
            case ["race", race_id]:
                race = self._race(race_id)
                if race is None or request.now < race.confirmed_at:
                    return None
                body = result(self.world, race, request.now, request.addresses)
                return self._db_document(race.title, body)
            case ["horse", "ajax_horse_results.html" | "ajax_horse_pedigree.html" as name]:
                return self._fragment(name)
            case ["horse", "result" | "ped" as kind, horse_id]:
                return self._horse_page(kind, horse_id)
            case ["horse", horse_id]:
                return self._horse_page("profile", horse_id)
            case ["jockey", "result.html"]:
                return self._jockey_page(request.query.get("id", ""))
            case ["jockey", jockey_id] | ["jockey", "result", "recent", jockey_id]:
                return self._jockey_page(jockey_id)
        return None

    def _fragment(self, name: str) -> Page | None:
        horse = self._horse(self.request.query.get("id", ""))
        if horse is None:
            return None
        is_results = name == "ajax_horse_results.html"
        body = self._results(horse) if is_results else pedigree(self.world, horse)
        if self.request.query.get("output") != "json":
            return Page(body, declares_charset=self.form.declares_charset)
        return _json_page({"status": "OK", "data": body})

    def _horse_page(self, kind: str, horse_id: str) -> Page | None:
        horse, now = self._horse(horse_id), self.request.now
        if horse is None:
            return None
        if kind == "profile":
            return self._db_document(horse.name, profile(self.world, horse, now))
        body = self._results(horse) if kind == "result" else pedigree(self.world, horse)
        return self._db_document(horse.name, f"{headline(horse, now)}{body}")

    def _horse(self, horse_id: str) -> Horse | Ancestor | None:
        people = self.world.people
        horse = people.find_horse(horse_id)
        if horse is None:
            return people.families.find(horse_id)
        return horse if horse.born_on <= self.request.now.date() else None

    def _results(self, horse: Horse | Ancestor) -> str:
        return results(horse.id, runs_of(self.world, horse, self.request.now), self.form.columns)

    def _jockey_page(self, jockey_id: str) -> Page | None:
        jockey, now = self.world.people.find_jockey(jockey_id), self.request.now
        if jockey is None or jockey.first_year > now.astimezone(JST).year:
            return None
        every_year = self.request.path.endswith(".html")
        return self._db_document(
            jockey.name, jockey_page(self.world, jockey, now, every_year=every_year)
        )

    def _race(self, race_id: str) -> Race | None:
        """Return a race of this or the next year, or earlier."""
        year = race_id[:4]
        announced = year.isdecimal() and int(year) <= self.request.now.astimezone(JST).year + 1
        return self.world.race(race_id) if announced else None

    def _race_document(self, title: str, body: str) -> Page:
        encoding = self.form.race_encoding
        text = document(title, body, encoding)
        return Page(text, encoding, declares_charset=self.form.declares_charset)

    def _db_document(self, title: str, body: str) -> Page:
        encoding = self.form.db_encoding
        return Page(document(title, body, encoding), encoding, declares_charset=False)


def _json_page(value: object) -> Page:
    return Page(
        msgspec.json.encode(value).decode(), media="application/json", declares_charset=False
    )


def _dated_title(race: Race) -> str:
    """Return the title of a race page, which contains the date as on the real site."""
    meeting, number = race.slot.meeting, race.slot.number
    day = meeting.held_on
    return (
        f"{race.title} | {day.year}年{day.month}月{day.day}日 {meeting.track.name}{number}R "
        "レース情報"
    )


def _day(text: str | None, now: datetime) -> date | None:
    if text is None:
        return now.astimezone(JST).date()
    try:
        day = datetime.strptime(text, "%Y%m%d").replace(tzinfo=JST).date()
    except ValueError:
        return None
    return day if 1954 <= day.year <= now.astimezone(JST).year + 1 else None


_HOSTS: Final[tuple[Host, ...]] = ("race", "nar", "db")
_TYPE_TEXT: Final = (b"content-type", b"text/plain; charset=utf-8")
_MISSING: Final = Page("<html><body><p>ページが見つかりません</p></body></html>", status=404)


@dataclass(frozen=True, slots=True)
class SiteRules:
    """Rules for visitors.

    A request sooner than `min_gap_seconds` after the last one of its host is refused; agents
    that begin with one of `blocked_agents` get a bad request, as reported of the real site.
    """

    min_gap_seconds: float = 0.0
    wait_seconds: float = 30.0
    blocked_agents: tuple[str, ...] = ("python-requests/", "Python-urllib/")
    closed: tuple[str, ...] = ("/simulator/", "/mypage/")


@dataclass
class Site:
    """The simulated site; `clock` is the simulated time, `wall` the time of the access log.

    The hosts are reached by the beginning of the path (/race, /nar, /db) or, without it, by a
    name that begins with one of them and a dot.
    """

    world: World
    clock: Clock
    wall: Clock
    form: SiteFormat = field(default_factory=SiteFormat)
    rules: SiteRules = field(default_factory=SiteRules)
    faults: Faults = field(default_factory=lambda: Faults(Random(1)))  # noqa: S311 - repeatable
    malformed: MalformedReplies[Malformation] = field(default_factory=MalformedReplies)
    access_log: AccessLog = field(default_factory=AccessLog)
    _lock: Lock = field(default_factory=Lock)

    @property
    def application(self) -> Application:
        """The ASGI application; requests are logged before any fault."""
        faulty = Faulty(self._serve, self.faults)

        async def log_and_serve(scope: Message, receive: Receive, send: Send) -> None:
            found = _host(scope) if scope["type"] == "http" else None
            if found is None or scope["path"] in {FAULTS, MALFORMED_PATH}:
                await faulty(scope, receive, send)
                return
            host, path = found
            query = scope["query_string"].decode()
            agent = dict(scope["headers"]).get(b"user-agent", b"").decode("latin-1")
            shown = f"{path}?{query}" if query else path
            gap = self.access_log.begin(LoggedRequest(self.wall.monotonic(), host, shown, agent))
            try:
                if gap is not None and gap < self.rules.min_gap_seconds:
                    wait = (b"retry-after", f"{self.rules.wait_seconds:g}".encode())
                    await send_response(send, 429, b"too many requests", [wait])
                elif not agent or agent.startswith(self.rules.blocked_agents):
                    await send_response(send, 400, b"bad request")
                else:
                    await faulty(scope, receive, send)
            finally:
                self.access_log.end(host)

        return log_and_serve

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["path"] == MALFORMED_PATH:
            await self._control(scope, receive, send)
            return
        found = _host(scope)
        if scope["path"] == "/robots.txt" and (found is None or found[1] == "/robots.txt"):
            prefixes = [""] if found else [f"/{host}" for host in _HOSTS]
            await send_response(send, 200, self._robots(prefixes), [_TYPE_TEXT])
        elif found is None:
            await send_response(send, 404, b"no such page", [_TYPE_TEXT])
        elif found[1] == "/robots.txt":
            await send_response(send, 200, self._robots([""]), [_TYPE_TEXT])
        else:
            await self._page(scope, send, found)

    async def _page(self, scope: Message, send: Send, found: tuple[Host, str]) -> None:
        host, path = found
        query = {name: many[0] for name, many in parse_qs(scope["query_string"].decode()).items()}
        request = PageRequest(host, path, query, self.clock.now(), _addresses(scope))
        page = await asyncio.to_thread(self._render_page, request) or _MISSING
        status, body = page.status, page.body
        if wrong := self.malformed.strike(scope["path"]):
            status, body = malform(wrong, body, page.encoding)
        await send_response(send, status, body, [(b"content-type", page.content_type.encode())])

    def _render_page(self, request: PageRequest) -> Page | None:
        with self._lock:
            return render_page(self.world, self.form, request)

    async def _control(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["method"] == "PUT":
            try:
                wanted = msgspec.json.decode(
                    await read_body(receive), type=list[MalformedReply[Malformation]]
                )
            except msgspec.MsgspecError as fault:
                await send_response(send, 400, str(fault).encode(), [_TYPE_TEXT])
                return
            self.malformed.ask_for(*wanted)
        await send_json(send, 200, self.malformed.requested)

    def _robots(self, prefixes: list[str]) -> bytes:
        closed = "".join(
            f"Disallow: {prefix}{path}\n" for prefix in prefixes for path in self.rules.closed
        )
        return f"User-agent: *\n{closed}".encode()


def _host(scope: Message) -> tuple[Host, str] | None:
    """Return the host of a request and the path on it."""
    path: str = scope["path"]
    named = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
    for host in _HOSTS:
        if named.startswith(f"{host}."):
            return host, path
    for host in _HOSTS:
        if path.startswith(f"/{host}/"):
            return host, path.removeprefix(f"/{host}")
    return None


def _addresses(scope: Message) -> Addresses:
    named = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
    for host in _HOSTS:
        if named.startswith(f"{host}."):
            rest = named.removeprefix(f"{host}.")
            return Addresses(f"http://race.{rest}", f"http://nar.{rest}", f"http://db.{rest}")
    return Addresses(f"http://{named}/race", f"http://{named}/nar", f"http://{named}/db")
