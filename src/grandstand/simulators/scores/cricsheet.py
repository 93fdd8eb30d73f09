"""Recorded matches in the Cricsheet JSON format."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

import msgspec

from grandstand.simulators.scores.generated import FORMATS, generate_match
from grandstand.simulators.scores.match_record import (
    Delivery,
    Dismissal,
    Innings,
    InvalidRecording,
    MatchRecord,
    MatchSetting,
    Outcome,
    Player,
    RecordingNotFound,
    Team,
    stable_id,
    team_code,
)
from grandstand.simulators.scores.timeline import TimelineConfig

_FORMATS: Final = {
    ("T20", True): "T20I",
    ("T20", False): "T20",
    ("IT20", True): "T20",
    ("IT20", False): "T20",
    ("ODI", True): "ODI",
    ("ODI", False): "List A",
    ("ODM", True): "List A",
    ("ODM", False): "List A",
    ("Test", True): "Test",
    ("MDM", True): "4day",
    ("MDM", False): "4day",
}
_LEAGUES: Final = {"T20I": "Twenty20 International", "ODI": "One Day International", "Test": "Test"}


class _Runs(msgspec.Struct):
    batter: int
    extras: int = 0
    total: int = 0
    non_boundary: bool = False


class _Fielder(msgspec.Struct):
    name: str | None = None


class _Wicket(msgspec.Struct):
    player_out: str
    kind: str
    fielders: list[_Fielder] = msgspec.field(default_factory=list)


class _Ball(msgspec.Struct):
    batter: str
    bowler: str
    non_striker: str
    runs: _Runs
    extras: dict[Literal["wides", "noballs", "byes", "legbyes", "penalty"], int] = msgspec.field(
        default_factory=dict
    )
    wickets: list[_Wicket] = msgspec.field(default_factory=list)


class _Over(msgspec.Struct):
    over: int
    deliveries: list[_Ball]


class _Target(msgspec.Struct):
    runs: int | None = None
    overs: float | None = None


class _Powerplay(msgspec.Struct, rename={"first": "from", "last": "to"}):
    first: float
    last: float


class _Penalty(msgspec.Struct):
    pre: int = 0
    post: int = 0


class _Innings(msgspec.Struct):
    team: str
    overs: list[_Over] = msgspec.field(default_factory=list)
    powerplays: list[_Powerplay] = msgspec.field(default_factory=list)
    target: _Target = msgspec.field(default_factory=_Target)
    super_over: bool = False
    declared: bool = False
    forfeited: bool = False
    penalty_runs: _Penalty = msgspec.field(default_factory=_Penalty)


class _Event(msgspec.Struct):
    name: str = ""
    match_number: int | None = None
    stage: str = ""


class _By(msgspec.Struct):
    runs: int | None = None
    wickets: int | None = None
    innings: int | None = None


class _Outcome(msgspec.Struct):
    winner: str | None = None
    by: _By = msgspec.field(default_factory=_By)
    method: str = ""
    result: str = ""
    eliminator: str | None = None


class _Toss(msgspec.Struct):
    winner: str
    decision: Literal["bat", "field"]


class _Registry(msgspec.Struct):
    people: dict[str, str]


class _Info(msgspec.Struct):
    match_type: str
    team_type: str
    season: str
    teams: tuple[str, str]
    players: dict[str, list[str]]
    registry: _Registry
    toss: _Toss
    outcome: _Outcome
    venue: str = ""
    city: str = ""
    overs: int | None = None
    event: _Event = msgspec.field(default_factory=_Event)
    officials: dict[str, list[str]] = msgspec.field(default_factory=dict)
    player_of_match: list[str] = msgspec.field(default_factory=list)


class _Match(msgspec.Struct):
    info: _Info
    innings: list[_Innings]


def parse_cricsheet(match_id: int, content: bytes) -> MatchRecord:
    """Return the match of a Cricsheet file. Raises InvalidRecording."""
    try:
        match = msgspec.json.decode(content, type=_Match, strict=False)
        return _Conversion(match).tape(match_id)
    except (msgspec.MsgspecError, KeyError, ValueError) as fault:
        raise InvalidRecording(str(match_id), str(fault)) from fault


class _Conversion:
    """Converts one Cricsheet match; people are looked up by name."""

    def __init__(self, match: _Match) -> None:
        self._match = match
        info = match.info
        keys = info.registry.people
        # The feed's numbers are short; two people of a match rarely share five digits.
        digits = 5 if len({key[:5] for key in keys.values()}) == len(keys) else 8
        self._people = {name: Player(int(key[:digits], 16), name) for name, key in keys.items()}
        self._teams = {
            name: Team(
                stable_id("team", name),
                name,
                team_code(name),
                tuple(self._people[each] for each in info.players.get(name, [])),
            )
            for name in info.teams
        }

    def tape(self, match_id: int) -> MatchRecord:
        info = self._match.info
        home, away = info.teams
        form = _FORMATS[info.match_type, info.team_type == "international"]
        best = info.player_of_match
        return MatchRecord(
            id=match_id,
            format=form,
            teams=(self._teams[home], self._teams[away]),
            setting=self._setting(form),
            toss_winner=self._teams[info.toss.winner],
            elected="batting" if info.toss.decision == "bat" else "bowling",
            innings=tuple(
                self._innings(number, each)
                for number, each in enumerate(self._match.innings, start=1)
            ),
            outcome=self._outcome(),
            player_of_match=self._people.get(best[0]) if best else None,
            overs=info.overs,
        )

    def _setting(self, form: str) -> MatchSetting:
        info, event = self._match.info, self._match.info.event
        number = f"Match {event.match_number}" if event.match_number else ""
        people = info.officials
        order = [*people.get("umpires", [])[:2], *people.get("tv_umpires", [])[:1]]
        return MatchSetting(
            league=_LEAGUES.get(form, event.name or form),
            season=info.season,
            stage=event.name or form,
            round=event.stage or number,
            venue=info.venue,
            city=info.city,
            international=info.team_type == "international",
            officials=(*order, *people.get("match_referees", [])[:1]),
        )

    def _innings(self, number: int, told: _Innings) -> Innings:
        return Innings(
            number=number,
            team=self._teams[told.team],
            deliveries=tuple(ball for over in told.overs for ball in self._over(number, over)),
            super_over=told.super_over,
            declared=told.declared or told.forfeited,
            target=told.target.runs,
            overs=None if told.target.overs is None else int(told.target.overs),
            powerplays=tuple(
                f"{int(each.first) + 1}-{int(each.last) + 1}" for each in told.powerplays
            ),
            penalty_before=told.penalty_runs.pre + told.penalty_runs.post,
        )

    def _over(self, inning: int, told: _Over) -> list[Delivery]:
        found: list[Delivery] = []
        for ball in told.deliveries:
            number = 1 + sum(each.legal for each in found)
            found.append(self._delivery((inning, told.over, number), ball))
        return found

    def _delivery(self, place: tuple[int, int, int], told: _Ball) -> Delivery:
        extras, inning, over, number = told.extras, *place
        return Delivery(
            inning=inning,
            over=over,
            number=number,
            batter=self._people[told.batter],
            partner=self._people[told.non_striker],
            bowler=self._people[told.bowler],
            runs=told.runs.batter,
            wides=extras.get("wides", 0),
            noballs=extras.get("noballs", 0),
            byes=extras.get("byes", 0),
            legbyes=extras.get("legbyes", 0),
            penalty=extras.get("penalty", 0),
            boundary=told.runs.batter in {4, 6} and not told.runs.non_boundary,
            dismissal=self._dismissal(told.wickets),
        )

    def _dismissal(self, wickets: list[_Wicket]) -> Dismissal | None:
        if not wickets:
            return None
        told = wickets[0]
        fielder = next((each.name for each in told.fielders if each.name), None)
        return Dismissal(
            self._people[told.player_out],
            told.kind,
            self._people.get(fielder) if fielder else None,
        )

    def _outcome(self) -> Outcome:
        told = self._match.info.outcome
        name = told.winner or told.eliminator
        if name is None:
            words = {"no result": "No result", "draw": "Match drawn", "tie": "Match tied"}
            note = words.get(told.result, told.result)
            return Outcome(None, note, note)
        return Outcome(self._teams[name], f"{name} won{_margin(told)}")


def _margin(told: _Outcome) -> str:
    by, method = told.by, f" ({told.method} method)" if told.method else ""
    if told.eliminator:
        return f" the super over{method}"
    if by.innings:
        return f" by an innings and {_count(by.runs or 0, 'run')}{method}"
    if by.runs is not None:
        return f" by {_count(by.runs, 'run')}{method}"
    return f" by {_count(by.wickets, 'wicket')}{method}" if by.wickets is not None else method


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


_FOLDER: Final = Path(__file__).parent / "tapes"
RECORDED_MATCHES: Final = (1001349, 1370353, 1178424, 1000853)


@lru_cache(maxsize=8)
def read_recorded_match(number: int) -> MatchRecord:
    """Return one of the bundled matches. Raises RecordingNotFound."""
    path = _FOLDER / f"{number}.json"
    if number not in RECORDED_MATCHES or not path.is_file():
        raise RecordingNotFound(str(number))
    return parse_cricsheet(number, path.read_bytes())


def find_match(name: str) -> MatchRecord:
    """Return a match by name: the number of a bundled one, or `generated:SEED`.

    A generated one may have a format and a tie: `generated:7:ODI`, `generated:7:T20:tie`.
    Raises RecordingNotFound.
    """
    kind, _, rest = name.partition(":")
    if kind == "generated":
        seed, _, wishes = rest.partition(":")
        form, _, tie = wishes.partition(":")
        if seed.isdecimal() and (form or "T20") in FORMATS and tie in {"", "tie"}:
            return generate_match(int(seed), form or "T20", tie=bool(tie))
    elif name.isdecimal():
        return read_recorded_match(int(name))
    raise RecordingNotFound(name)


def find_timeline_config(number: int) -> TimelineConfig | None:
    """Return the timeline of a bundled match with interruptions, if it has one."""
    return _courses().get(str(number))


@lru_cache(maxsize=1)
def _courses() -> dict[str, TimelineConfig]:
    content = (_FOLDER / "courses.json").read_bytes()
    return msgspec.json.decode(content, type=dict[str, TimelineConfig])
