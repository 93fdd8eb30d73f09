"""Client and parser for the SportMonks cricket API, version 2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from grandstand.apps.cricket.domain import matches
from grandstand.apps.cricket.domain.errors import FeedNotConfigured, MatchNotFound
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.core.errors import SourceFailed
from grandstand.core.logging import get_logger
from grandstand.net.client import Credentials, Source, SourceRegistry, SourceStatus
from grandstand.net.errors import ResponseTooLarge
from grandstand.net.rate_limits import Quota, QuotaReading, RateLimit
from grandstand.net.retry import RetryPolicy

T = TypeVar("T")

Row: TypeAlias = dict[str, object]

_MAX_WARNINGS: Final = 50
_MAX_TEXT_CHARS: Final = 300
_MAX_INT: Final = 10**12
_MAX_DIGITS: Final = 12
_YEARS: Final = range(1800, 2200)


@dataclass(frozen=True, slots=True)
class Parsed(Generic[T]):
    """A parsed value, and warnings about what was skipped."""

    value: T
    warnings: tuple[str, ...] = ()


class FeedReader:
    """Reads values of the feed's JSON leniently; problems become warnings."""

    def __init__(self) -> None:
        self._warned: Counter[str] = Counter()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Each warning once, with its count."""
        return tuple(
            f"{what} ({times} times)" if times > 1 else what
            for what, times in self._warned.most_common(_MAX_WARNINGS)
        )

    def warn(self, what: str) -> None:
        self._warned[what] += 1

    def rows(self, row: Row, name: str) -> list[Row]:
        """Return an included list, bare or wrapped in `data`, without invalid rows."""
        value = _unwrapped(row.get(name))
        if value is None:
            return []
        if not isinstance(value, list):
            self.warn(f"{name} is not a list")
            return []
        found = [each for each in value if isinstance(each, dict)]
        if len(found) < len(value):
            self.warn(f"{name} has rows that are not objects")
        return found

    def row(self, row: Row, name: str) -> Row:
        """Return an included object, bare or wrapped, or an empty one."""
        value = _unwrapped(row.get(name))
        if value is None or value == []:
            return {}
        if isinstance(value, dict):
            return value
        self.warn(f"{name} is not an object")
        return {}

    def text(self, row: Row, name: str) -> str:
        """Return a text, empty if it is missing; numbers are accepted."""
        value = row.get(name)
        if isinstance(value, str):
            return value[:_MAX_TEXT_CHARS]
        if value is None:
            return ""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        self.warn(f"{name} is not text")
        return ""

    def key(self, row: Row, name: str) -> str:
        """Return an id as text, empty if it is missing."""
        number = self.find_number(row, name)
        return "" if number is None else str(number)

    def find_number(self, row: Row, name: str) -> int | None:
        """Return an integer, or None if it is missing or invalid."""
        value = row.get(name)
        if type(value) is int:
            return self._bounded(value, name)
        if value is None or value == "":
            return None
        if isinstance(value, str | float) and not isinstance(value, bool):
            try:
                number = Decimal(str(value))
            except InvalidOperation:
                number = Decimal("NaN")
            if number.is_finite() and number.adjusted() <= _MAX_DIGITS:
                return self._bounded(int(number), name)
        self.warn(f"{name} is not a number")
        return None

    def number(self, row: Row, name: str) -> int:
        """Return an integer, 0 if it is missing."""
        return self.find_number(row, name) or 0

    def flag(self, row: Row, name: str) -> bool:
        """Return a boolean; 0 and 1 are accepted."""
        value = row.get(name)
        if isinstance(value, bool):
            return value
        if value is not None and value not in (0, 1, "0", "1"):
            self.warn(f"{name} is not a boolean")
        return value in (1, "1")

    def decimal(self, row: Row, name: str) -> Decimal | None:
        """Return a number with one decimal, such as overs, or None if it is missing or invalid."""
        value = row.get(name)
        if value is None or value == "":
            return None
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            try:
                # The feed sends 17.3 as a float: with one decimal it is what was meant.
                number = Decimal(str(value)).quantize(Decimal("0.1"))
            except InvalidOperation:
                number = Decimal("NaN")
            if number.is_finite() and 0 <= number < _MAX_INT:
                return number.to_integral_value() if number == int(number) else number
        self.warn(f"{name} is not a number")
        return None

    def moment(self, row: Row, name: str) -> datetime | None:
        """Return a time in UTC, or None if it is missing or invalid."""
        value = row.get(name)
        if not value:
            return None
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.warn(f"{name} is not a time")
            return None
        if moment.year not in _YEARS:
            self.warn(f"{name} is out of range")
            return None
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)

    def _bounded(self, value: int, name: str) -> int | None:
        if -_MAX_INT < value < _MAX_INT:
            return value
        self.warn(f"{name} is out of range")
        return None


def _unwrapped(value: object) -> object:
    """Return an include without its wrapper; some endpoints send it as {"data": …}."""
    return value["data"] if isinstance(value, dict) and set(value) == {"data"} else value


_NOT_CREDITED: Final = ("run out", "retired", "obstruct", "timed out", "handled")
_SINCE_MARGIN: Final = 30


def parse_balls(
    reader: FeedReader, rows: list[Row], since: int | None = None
) -> tuple[matches.Ball, ...]:
    """Return the balls ordered by id.

    With `since`, only those after that id and 30 before it, so that the work of a tick does
    not grow with the match. Rows without an id, a position or players are skipped.
    """
    found: dict[int, matches.Ball] = {}
    margin = _SINCE_MARGIN
    for row in reversed(rows):
        ball = _parse_ball(reader, row)
        if ball is None:
            continue
        found.setdefault(ball.id, ball)
        if since is not None and ball.id <= since:
            margin -= 1
            if not margin:
                break
    return tuple(found[each] for each in sorted(found))


def _parse_ball(reader: FeedReader, row: Row) -> matches.Ball | None:
    ball_id, label = reader.find_number(row, "id"), reader.decimal(row, "ball")
    batter, bowler = reader.find_number(row, "batsman_id"), reader.find_number(row, "bowler_id")
    inning = inning_of(reader.text(row, "scoreboard"))
    if ball_id is None or label is None or batter is None or bowler is None or inning is None:
        reader.warn("ball without an id, a position or players")
        return None
    score = reader.row(row, "score")
    if not score:
        reader.warn("ball without a score")
    over = int(label)
    ones, twos = (reader.find_number(row, f"batsman_{n}_on_creeze_id") for n in ("one", "two"))
    wicket = reader.flag(score, "is_wicket") or reader.flag(score, "out")
    name = reader.text(score, "name").lower()
    runs, extras, extra = _runs(reader, score, name)
    return matches.Ball(
        id=ball_id,
        inning=inning,
        over=over,
        number=int(label * 10) - over * 10,
        batter_id=batter,
        bowler_id=bowler,
        runs=runs,
        extras=extras,
        extra=extra,
        four=reader.flag(score, "four") and extra in {None, "noball"},
        six=reader.flag(score, "six") and extra in {None, "noball"},
        wicket=wicket,
        credited=wicket and not any(word in name for word in _NOT_CREDITED),
        out_id=(reader.find_number(row, "batsmanout_id") or batter) if wicket else None,
        partner_id=twos if ones == batter else ones,
        how=reader.text(score, "name")[:24] if wicket else None,
    )


def _runs(reader: FeedReader, score: Row, name: str) -> tuple[int, int, matches.ExtraKind | None]:
    """Return runs off the bat, extras and their kind.

    There is no field for wides: the name says it, and `runs` is their full value. `runs`
    includes `noball_runs` but neither byes nor leg byes; where a name has both leg byes and
    runs, the leg byes include those runs.
    """
    runs, byes, leg_byes = (reader.number(score, each) for each in ("runs", "bye", "leg_bye"))
    if "wide" in name:
        return 0, runs + byes + leg_byes, "wide"
    if reader.number(score, "noball") > 0:
        penalty = reader.number(score, "noball_runs")
        return max(0, runs - penalty), penalty + byes + leg_byes, "noball"
    if leg_byes:
        return 0, max(leg_byes, runs), "legbye"
    if byes:
        return runs, byes, "bye"
    return runs, 0, None


def inning_of(scoreboard: str) -> int | None:
    """Return the number of an innings by its scoreboard name: S1 is 1."""
    number = scoreboard[1:]
    known = scoreboard[:1] in {"S", "s"} and number.isascii() and number.isdigit()
    return int(number) if known and len(number) <= 2 and int(number) > 0 else None


_BALLS_WITH_NAMES: Final = 60


def parse_fixture(
    reader: FeedReader, row: Row, since: int | None = None
) -> matches.MatchSnapshot | None:
    """Return a match snapshot, or None with a warning if it has no id.

    Other missing or invalid values become warnings. `since` is the last known ball; earlier
    ones are not parsed again.
    """
    match_id = reader.key(row, "id")
    if not match_id:
        reader.warn("fixture without an id")
        return None
    rows = {name: reader.rows(row, name) for name in ("batting", "bowling", "balls", "lineup")}
    status = reader.text(row, "status")
    if matches.phase_for_status(status) is None:
        reader.warn(f"unknown status {status[:40]!r}")
    return matches.MatchSnapshot(
        match_id=match_id,
        status=status,
        home=_side(reader, row, "localteam"),
        away=_side(reader, row, "visitorteam"),
        competition=_competition(reader, row),
        format=reader.text(row, "type"),
        round=reader.text(row, "round"),
        starting_at=reader.moment(row, "starting_at"),
        venue=reader.text(reader.row(row, "venue"), "name"),
        note=reader.text(row, "note"),
        toss_team_id=reader.key(row, "toss_won_team_id") or None,
        elected=reader.text(row, "elected"),
        winner_team_id=reader.key(row, "winner_team_id") or None,
        no_result=reader.text(row, "draw_noresult"),
        super_over=reader.flag(row, "super_over"),
        revision=_revision(reader, row),
        innings=_innings(reader, row),
        boards=_boards(reader, rows["batting"], rows["bowling"]),
        balls=parse_balls(reader, rows["balls"], since),
        players=_players(reader, rows, since),
    )


def _side(reader: FeedReader, row: Row, name: str) -> matches.Side:
    team = reader.row(row, name)
    team_id = reader.key(row, f"{name}_id") or reader.key(team, "id")
    return matches.Side(
        team_id,
        reader.text(team, "name"),
        reader.text(team, "code"),
        reader.text(team, "image_path"),
    )


def _competition(reader: FeedReader, row: Row) -> matches.Competition:
    league = reader.row(row, "league")
    return matches.Competition(
        reader.key(row, "league_id"),
        reader.key(row, "season_id"),
        reader.key(row, "stage_id"),
        reader.text(league, "name"),
        reader.text(league, "code"),
    )


def _revision(reader: FeedReader, row: Row) -> matches.Revision:
    """Return the revised target; a Duckworth-Lewis block counts if it has a score."""
    blocks = [reader.row(row, f"{side}_dl_data") for side in ("localteam", "visitorteam")]
    blocks_text = [
        f"{reader.text(block, 'score')}/{reader.text(block, 'overs')}"
        for block in blocks
        if reader.text(block, "score")
    ]
    return matches.Revision(
        reader.find_number(row, "rpc_target"),
        reader.decimal(row, "rpc_overs"),
        " ".join(blocks_text),
    )


def _innings(reader: FeedReader, row: Row) -> tuple[matches.InningsScore, ...]:
    found: dict[int, matches.InningsScore] = {}
    for each in reader.rows(row, "runs"):
        inning = reader.find_number(each, "inning")
        if inning is None or inning < 1:
            reader.warn("innings without a number")
            continue
        found[inning] = matches.InningsScore(
            reader.key(each, "team_id"),
            inning,
            reader.number(each, "score"),
            reader.number(each, "wickets"),
            reader.decimal(each, "overs") or Decimal(0),
        )
    return tuple(found[inning] for inning in sorted(found))


def _boards(reader: FeedReader, batted: list[Row], bowled: list[Row]) -> tuple[matches.Board, ...]:
    batting: dict[int, dict[int, matches.BattingLine]] = {}
    for each in _sorted(reader, batted):
        batter = _batting(reader, each)
        if batter:
            batting.setdefault(batter.inning, {})[batter.player_id] = batter
    bowling: dict[int, dict[int, matches.BowlingLine]] = {}
    for each in _sorted(reader, bowled):
        bowler = _bowling(reader, each)
        if bowler:
            bowling.setdefault(bowler.inning, {})[bowler.player_id] = bowler
    return tuple(
        matches.Board(
            inning,
            tuple(batting.get(inning, {}).values()),
            tuple(bowling.get(inning, {}).values()),
        )
        for inning in sorted({*batting, *bowling})
    )


def _sorted(reader: FeedReader, rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: reader.number(row, "sort"))


def _batting(reader: FeedReader, row: Row) -> matches.BattingLine | None:
    player, inning = (
        reader.find_number(row, "player_id"),
        inning_of(reader.text(row, "scoreboard")),
    )
    if player is None or inning is None:
        reader.warn("batting line without a player or a scoreboard")
        return None
    fall_score = reader.number(row, "fow_score")
    fall_overs = reader.decimal(row, "fow_balls") or Decimal(0)
    result = reader.row(row, "result")
    out = bool(fall_score or fall_overs)
    if result and not (reader.flag(result, "is_wicket") or reader.flag(result, "out")):
        out = False
    return matches.BattingLine(
        player,
        inning,
        reader.number(row, "score"),
        reader.number(row, "ball"),
        reader.number(row, "four_x"),
        reader.number(row, "six_x"),
        out,
        fall_score if out else None,
        fall_overs if out else None,
    )


def _bowling(reader: FeedReader, row: Row) -> matches.BowlingLine | None:
    """Return a bowling line; the feed spells maidens `medians`."""
    player, inning = (
        reader.find_number(row, "player_id"),
        inning_of(reader.text(row, "scoreboard")),
    )
    if player is None or inning is None:
        reader.warn("bowling line without a player or a scoreboard")
        return None
    return matches.BowlingLine(
        player,
        inning,
        reader.decimal(row, "overs") or Decimal(0),
        reader.number(row, "medians"),
        reader.number(row, "runs"),
        reader.number(row, "wickets"),
    )


def _players(reader: FeedReader, rows: dict[str, list[Row]], since: int | None) -> dict[int, str]:
    """Return the names in the lineup, in batting and bowling lines, and in the latest balls."""
    people = list(rows["lineup"])
    people += [reader.row(each, "batsman") for each in rows["batting"]]
    people += [reader.row(each, "bowler") for each in rows["bowling"]]
    for each in rows["balls"] if since is None else rows["balls"][-_BALLS_WITH_NAMES:]:
        people += [reader.row(each, "batsman"), reader.row(each, "bowler")]
    names: dict[int, str] = {}
    for person in people:
        player = reader.find_number(person, "id") if person else None
        if player is not None and player not in names:
            names[player] = _name(reader, person)
    return names


def _name(reader: FeedReader, person: Row) -> str:
    """Return initial and last name, if both are known."""
    first, last = reader.text(person, "firstname"), reader.text(person, "lastname")
    if first and last:
        return f"{first[0]} {last}"
    return reader.text(person, "fullname") or last or first


def parse_league(reader: FeedReader, row: Row) -> matches.LeagueRecord | None:
    league_id, name = reader.key(row, "id"), reader.text(row, "name")
    if not league_id or not name:
        reader.warn("league without an id or a name")
        return None
    return matches.LeagueRecord(
        league_id,
        name,
        reader.text(row, "code") or league_id,
        season_id=reader.key(row, "season_id") or None,
        image_path=reader.text(row, "image_path") or None,
    )


def parse_team(reader: FeedReader, row: Row) -> matches.TeamRecord | None:
    team_id, name = reader.key(row, "id"), reader.text(row, "name")
    if not team_id or not name:
        reader.warn("team without an id or a name")
        return None
    return matches.TeamRecord(
        team_id,
        name,
        reader.text(row, "code") or None,
        reader.text(row, "image_path") or None,
        reader.flag(row, "national_team"),
    )


def parse_standing(reader: FeedReader, row: Row) -> matches.StandingRecord | None:
    season_id, team_id = reader.key(row, "season_id"), reader.key(row, "team_id")
    if not season_id or not team_id:
        reader.warn("standing without a season or a team")
        return None
    return matches.StandingRecord(
        season_id,
        team_id,
        league_id=reader.key(row, "league_id"),
        position=reader.find_number(row, "position"),
        played=reader.number(row, "played"),
        won=reader.number(row, "won"),
        lost=reader.number(row, "lost"),
        drawn=reader.number(row, "draw"),
        no_result=reader.number(row, "noresult"),
        points=reader.number(row, "points"),
    )


Part: TypeAlias = Literal["livescores", "fixtures", "leagues", "teams", "standings"]

_PARTS: Final[tuple[Part, ...]] = ("livescores", "fixtures", "leagues", "teams", "standings")
# A five-day Test with embedded players has about 3 MB.
MAX_RESPONSE_BYTES: Final = 5 * 1024 * 1024 - 1
_MISSING: Final = frozenset({404})
_HOUR_SECONDS: Final = 3600.0
_LONG_INCLUDES: Final = frozenset({"balls", "lineup", "batting", "bowling"})
_PAGE_ROWS: Final = 100
_MAX_PAGES: Final = 50
_BASIC_INCLUDES: Final = "localteam,visitorteam,league,venue,runs"
_SCORE_INCLUDES: Final = f"{_BASIC_INCLUDES},batting.batsman,batting.result,bowling.bowler"
_ALL_INCLUDES: Final = f"{_SCORE_INCLUDES},balls,lineup"


@dataclass(frozen=True, slots=True)
class FeedMatch:
    """A match snapshot with the raw fixture to cache, without long lists and floats."""

    snapshot: matches.MatchSnapshot
    raw: Row


class SportMonksClient:
    """Client for the score feed; each endpoint group has its own hourly quota.

    Raises FeedNotConfigured without a token and SourceFailed for invalid responses.
    """

    def __init__(self, web: SourceRegistry, settings: CricketSettings) -> None:
        self._settings = settings
        self._sources = {part: self._create_source(web, part) for part in _PARTS}
        self._log = get_logger("cricket", source="sportmonks")

    async def livescores(
        self, *, balls: bool = False, since: Mapping[str, int] | None = None
    ) -> Parsed[tuple[FeedMatch, ...]]:
        """Fetch today's live and upcoming matches; `since` is as in `fixture`, by match id."""
        include = _ALL_INCLUDES if balls else _SCORE_INCLUDES
        rows = await self._rows("livescores", "/livescores", {"include": include})
        known = since or {}
        return self._parse_rows(
            rows, lambda reader, row: _parse_match(reader, row, known.get(str(row.get("id"))))
        )

    async def fixture(self, match_id: str, *, since: int | None = None) -> Parsed[FeedMatch]:
        """Fetch one match with its balls. Raises MatchNotFound.

        With `since`, the id of the last known ball, only later balls and the 30 before are
        parsed.
        """
        if not (match_id.isascii() and match_id.isdigit()):
            raise MatchNotFound(match_id)
        path = f"/fixtures/{match_id}"
        data = await self._data("fixtures", path, {"include": _ALL_INCLUDES})
        if data is None:
            raise MatchNotFound(match_id)
        if not isinstance(data, dict):
            raise _invalid_response(path, "data is not an object")
        parsed = self._parse_rows([data], lambda reader, row: _parse_match(reader, row, since))
        if not parsed.value:
            raise _invalid_response(path, "; ".join(parsed.warnings))
        return Parsed(parsed.value[0], parsed.warnings)

    async def fixtures(
        self, first: date, last: date, *, league_id: str | None = None
    ) -> Parsed[tuple[FeedMatch, ...]]:
        """Fetch the matches that start between two days."""
        params = {"include": _BASIC_INCLUDES, "filter[starts_between]": f"{first},{last}"}
        if league_id is not None:
            params["filter[league_id]"] = league_id
        rows = await self._pages("fixtures", "/fixtures", params)
        return self._parse_rows(rows, _parse_match)

    async def leagues(self) -> Parsed[tuple[matches.LeagueRecord, ...]]:
        return self._parse_rows(await self._pages("leagues", "/leagues", {}), parse_league)

    async def teams(self) -> Parsed[tuple[matches.TeamRecord, ...]]:
        return self._parse_rows(await self._pages("teams", "/teams", {}), parse_team)

    async def standings(self, season_id: str) -> Parsed[tuple[matches.StandingRecord, ...]]:
        """Fetch the table of a season; empty if it has none."""
        path = f"/standings/season/{season_id}"
        return self._parse_rows(await self._rows("standings", path, {}), parse_standing)

    async def status(self) -> tuple[SourceStatus, ...]:
        """Return the status and quota of each endpoint group."""
        return tuple([await source.current() for source in self._sources.values()])

    async def next_poll_seconds(self, interval_seconds: float) -> float:
        """Return how long to wait before the next request of the livescores.

        The interval, or longer if less than the reserve is left of the quota, so that the
        rest lasts until the quota renews.
        """
        known = await self._sources["livescores"].current()
        left = known.quota_left
        if left is None or left > self._settings.feed_reserve:
            return interval_seconds
        return max(interval_seconds, (known.renewed_in_seconds or 0.0) / max(1, left))

    def _create_source(self, web: SourceRegistry, part: Part) -> Source:
        settings = self._settings
        token = settings.feed_token
        return web.source(
            f"sportmonks-{part}",
            base_url=settings.feed_url,
            rate=RateLimit(per_second=5, burst=5),
            timeout_seconds=settings.feed_timeout_seconds,
            quota=Quota(settings.feed_hourly_requests, "hour"),
            credentials=Credentials(params={"api_token": token.get_secret_value()})
            if token
            else Credentials(),
            read_quota=read_quota_headers,
            retries=RetryPolicy(tries=3, within_seconds=2 * settings.feed_timeout_seconds),
            most_bytes=MAX_RESPONSE_BYTES,
        )

    async def _data(self, part: Part, path: str, params: Mapping[str, str]) -> object:
        """Fetch the `data` of a response, or None if it is not found."""
        if self._settings.feed_token is None:
            raise FeedNotConfigured(
                "The score feed is not configured. Set GRANDSTAND_CRICKET_FEED_TOKEN."
            )
        try:
            response = await self._sources[part].get(path, params=params, accept=_MISSING)
        except ResponseTooLarge as error:
            message = f"more than {MAX_RESPONSE_BYTES:,} bytes"
            raise _invalid_response(path, message) from error
        if response.status in _MISSING:
            return None
        body = response.json(dict[str, object])
        if "data" not in body:
            raise _invalid_response(path, "no data")
        return body["data"]

    async def _rows(self, part: Part, path: str, params: Mapping[str, str]) -> list[Row]:
        data = await self._data(part, path, params)
        if data is None:
            return []
        if not isinstance(data, list):
            raise _invalid_response(path, "data is not a list")
        return [row if isinstance(row, dict) else {} for row in data]

    async def _pages(self, part: Part, path: str, params: Mapping[str, str]) -> list[Row]:
        """Fetch pages until one is not full or repeats."""
        found: list[Row] = []
        for page in range(1, _MAX_PAGES + 1):
            rows = await self._rows(part, path, {**params, "page": str(page)})
            if not rows or rows[0] in found[-_PAGE_ROWS:]:
                break
            found += rows
            if len(rows) < _PAGE_ROWS:
                break
        return found

    def _parse_rows(
        self, rows: list[Row], parse: Callable[[FeedReader, Row], T | None]
    ) -> Parsed[tuple[T, ...]]:
        reader = FeedReader()
        found = [parse(reader, row) for row in rows]
        for warning in reader.warnings:
            self._log.warning("feed_row_skipped", reason=warning)
        return Parsed(tuple(each for each in found if each is not None), reader.warnings)


def _parse_match(reader: FeedReader, row: Row, since: int | None = None) -> FeedMatch | None:
    snapshot = parse_fixture(reader, row, since)
    if snapshot is None:
        return None
    raw = {name: _without_floats(row[name]) for name in row if name not in _LONG_INCLUDES}
    return FeedMatch(snapshot, raw)


def _invalid_response(path: str, why: str) -> SourceFailed:
    return SourceFailed(f"Invalid response of the score feed for {path}: {why}.")


def _without_floats(value: object) -> object:
    """Return a value with Decimals instead of floats, which tables cannot store."""
    if isinstance(value, float):
        return Decimal(str(value)) if isfinite(value) else None
    if isinstance(value, list):
        return [_without_floats(each) for each in value]
    if isinstance(value, dict):
        return {str(name): _without_floats(each) for name, each in value.items()}
    return value


def read_quota_headers(headers: Mapping[str, str], now: datetime) -> QuotaReading | None:
    """Return the quota from response headers, or None if they do not state it.

    `x-ratelimit-reset` is a time in epoch seconds or the seconds until then.
    """
    left = headers.get("x-ratelimit-remaining", "")
    if not left.isdecimal():
        return None
    limit, reset = headers.get("x-ratelimit-limit", ""), headers.get("x-ratelimit-reset", "")
    used = int(limit) - int(left) if limit.isdecimal() else None
    resets_at = None
    if reset.isdecimal() and len(reset) <= 10:
        seconds = int(reset)
        resets_at = (
            datetime.fromtimestamp(seconds, UTC)
            if seconds > 10 * _HOUR_SECONDS
            else now + timedelta(seconds=seconds)
        )
    return QuotaReading(int(left), used, resets_at)
