"""Conversion of Cricsheet matches to tapes of the score simulator.

Run this module to write the tapes again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

import msgspec

from grandstand.simulators.scores.match_record import (
    Delivery,
    Dismissal,
    Innings,
    MatchRecord,
    MatchSetting,
    Outcome,
    Player,
    Team,
    stable_id,
    team_code,
)
from grandstand.simulators.scores.matches import RECORDED_MATCHES, TAPES

ORIGINALS: Final = Path(__file__).parents[2] / "apps" / "cricket" / "cricsheet"
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


def convert(number: int) -> MatchRecord:
    """Return the record of a Cricsheet match."""
    content = (ORIGINALS / f"{number}.json").read_bytes()
    return _Conversion(msgspec.json.decode(content, type=_Match, strict=False)).record(number)


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

    def record(self, match_id: int) -> MatchRecord:
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

    def _innings(self, number: int, innings: _Innings) -> Innings:
        return Innings(
            number=number,
            team=self._teams[innings.team],
            deliveries=tuple(ball for over in innings.overs for ball in self._over(number, over)),
            super_over=innings.super_over,
            declared=innings.declared or innings.forfeited,
            target=innings.target.runs,
            overs=None if innings.target.overs is None else int(innings.target.overs),
            powerplays=tuple(
                f"{int(each.first) + 1}-{int(each.last) + 1}" for each in innings.powerplays
            ),
            penalty_before=innings.penalty_runs.pre + innings.penalty_runs.post,
        )

    def _over(self, inning: int, over: _Over) -> list[Delivery]:
        found: list[Delivery] = []
        for ball in over.deliveries:
            number = 1 + sum(each.legal for each in found)
            found.append(self._delivery((inning, over.over, number), ball))
        return found

    def _delivery(self, place: tuple[int, int, int], ball: _Ball) -> Delivery:
        extras, inning, over, number = ball.extras, *place
        return Delivery(
            inning=inning,
            over=over,
            number=number,
            batter=self._people[ball.batter],
            partner=self._people[ball.non_striker],
            bowler=self._people[ball.bowler],
            runs=ball.runs.batter,
            wides=extras.get("wides", 0),
            noballs=extras.get("noballs", 0),
            byes=extras.get("byes", 0),
            legbyes=extras.get("legbyes", 0),
            penalty=extras.get("penalty", 0),
            boundary=ball.runs.batter in {4, 6} and not ball.runs.non_boundary,
            dismissal=self._dismissal(ball.wickets),
        )

    def _dismissal(self, wickets: list[_Wicket]) -> Dismissal | None:
        if not wickets:
            return None
        wicket = wickets[0]
        fielder = next((each.name for each in wicket.fielders if each.name), None)
        return Dismissal(
            self._people[wicket.player_out],
            wicket.kind,
            self._people.get(fielder) if fielder else None,
        )

    def _outcome(self) -> Outcome:
        outcome = self._match.info.outcome
        name = outcome.winner or outcome.eliminator
        if name is None:
            notes = {"no result": "No result", "draw": "Match drawn", "tie": "Match tied"}
            note = notes.get(outcome.result, outcome.result)
            return Outcome(None, note, note)
        return Outcome(self._teams[name], f"{name} won{_margin(outcome)}")


def _margin(outcome: _Outcome) -> str:
    by, method = outcome.by, f" ({outcome.method} method)" if outcome.method else ""
    if outcome.eliminator:
        return f" the super over{method}"
    if by.innings:
        return f" by an innings and {_count(by.runs or 0, 'run')}{method}"
    if by.runs is not None:
        return f" by {_count(by.runs, 'run')}{method}"
    return f" by {_count(by.wickets, 'wicket')}{method}" if by.wickets is not None else method


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


if __name__ == "__main__":
    for match in RECORDED_MATCHES:
        (TAPES / f"{match}.json").write_bytes(msgspec.json.encode(convert(match)))
