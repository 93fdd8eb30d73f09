"""The matches that can be replayed: recorded ones, and ones generated ball by ball from a seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Final

import msgspec
from msgspec.structs import replace

from grandstand.core.errors import NotFound
from grandstand.simulators.scores.match_record import (
    BALLS_PER_OVER,
    Delivery,
    Dismissal,
    Innings,
    MatchRecord,
    MatchSetting,
    Outcome,
    Player,
    Team,
    format_count,
    stable_id,
    team_code,
)
from grandstand.simulators.scores.timeline import TimelineConfig

TAPES: Final = Path(__file__).parent / "tapes"
RECORDED_MATCHES: Final = (1001349, 1370353, 1178424, 1000853)

FORMATS: Final = {"T10": 10, "T20": 20, "ODI": 50, "Test": None}
_FIRST_ID: Final = 9_000_000
_ALL_OUT: Final = 10
_SUPER_OVER_OUT: Final = 2
_ELEVEN: Final = 11
_SPARED: Final = 7
_DAYS_OVERS: Final = 130
_TOWNS: Final = (
    "Harbour Town",
    "Hill City",
    "Marsh End",
    "Northgate",
    "Old Mill",
    "Stonebridge",
    "Three Oaks",
    "Westfield",
)
_LAST: Final = (
    "Abbot", "Baker", "Carter", "Dale", "Ellis", "Ford", "Grove", "Hale", "Ives", "Kerr", "Lowe",
    "Marsh", "Nash", "Oakes", "Price", "Quinn", "Reed", "Shaw", "Thorne", "Vale", "Wood", "Yates",
)  # fmt: skip
_INITIALS: Final = "ABCDEFGHJKLMNPRSTW"
_RUNS: Final = {
    "T10": ((0, 1, 2, 3, 4, 6), (26, 36, 9, 1, 16, 12)),
    "T20": ((0, 1, 2, 3, 4, 6), (34, 38, 8, 1, 13, 6)),
    "ODI": ((0, 1, 2, 3, 4, 6), (48, 36, 6, 1, 8, 1)),
    "Test": ((0, 1, 2, 3, 4, 6), (72, 16, 4, 1, 7, 0)),
}
_WICKET_SHARE: Final = {"T10": 0.055, "T20": 0.048, "ODI": 0.03, "Test": 0.017}
_WAYS: Final = (
    ("caught", "bowled", "lbw", "run out", "stumped", "caught and bowled", "hit wicket"),
    (55, 18, 13, 7, 3, 3, 1),
)
_EXTRA_SHARE: Final = 0.05
_EXTRAS: Final = (("wides", "noballs", "byes", "legbyes"), (50, 12, 10, 28))
_HURT_SHARE: Final = 0.002


@lru_cache(maxsize=8)
def read_recorded_match(number: int) -> MatchRecord:
    """Return one of the recorded matches. Raises NotFound."""
    if number not in RECORDED_MATCHES:
        raise NotFound(f"No recording {number}. Use one of {RECORDED_MATCHES}.")
    return msgspec.json.decode((TAPES / f"{number}.json").read_bytes(), type=MatchRecord)


@lru_cache(maxsize=1)
def _timeline_configs() -> dict[str, TimelineConfig]:
    content = (TAPES / "timelines.json").read_bytes()
    return msgspec.json.decode(content, type=dict[str, TimelineConfig])


def find_timeline_config(number: int) -> TimelineConfig | None:
    """Return the timeline of a recorded match with interruptions, if it has one."""
    return _timeline_configs().get(str(number))


def find_match(name: str) -> MatchRecord:
    """Return a match by name: the number of a recorded one, or `generated:SEED`.

    A generated one may have a format and a tie: `generated:7:ODI`, `generated:7:T20:tie`.
    Raises NotFound.
    """
    kind, _, options = name.partition(":")
    if kind == "generated":
        seed, _, options = options.partition(":")
        form, _, tie = options.partition(":")
        if seed.isdecimal() and (form or "T20") in FORMATS and tie in {"", "tie"}:
            return generate_match(int(seed), form or "T20", tie=bool(tie))
    elif name.isdecimal():
        return read_recorded_match(int(name))
    raise NotFound(f"No recording {name!r}. Use the number of a recording or generated:SEED.")


def generate_match(seed: int, form: str = "T20", *, tie: bool = False) -> MatchRecord:
    """Return the match of a seed; the same arguments give the same match.

    With `tie` both sides score the same and super overs decide.
    """
    random = Random(f"cricket:{seed}:{form}:{tie}")  # noqa: S311 - repeatable
    home, away = random.sample(_TOWNS, 2)
    teams = (_team(home, random), _team(away, random))
    toss, batting_first = random.randrange(2), random.randrange(2)
    first, second = teams[batting_first], teams[1 - batting_first]
    play = _Play(random, form)
    sides = first, second
    innings = _test(play, *sides) if form == "Test" else _limited(play, sides, tie=tie)
    return MatchRecord(
        id=_FIRST_ID + seed,
        format=form,
        teams=teams,
        setting=_setting(seed, form, home),
        toss_winner=teams[toss],
        elected="batting" if toss == batting_first else "bowling",
        innings=tuple(innings),
        outcome=_outcome(innings, form),
        player_of_match=random.choice(teams[0].players),
        overs=FORMATS[form],
    )


def _setting(seed: int, form: str, home: str) -> MatchSetting:
    return MatchSetting(
        league=f"Grandstand {form} League",
        season="2026",
        stage="Regular",
        round=f"Match {seed}",
        venue=f"{home} Green",
        city=home,
        international=False,
        officials=("A Judge", "B Warden", "C Watcher", "D Elder"),
    )


def _team(name: str, random: Random) -> Team:
    people = [
        Player(stable_id("player", name, last) * 100 + place, f"{random.choice(_INITIALS)} {last}")
        for place, last in enumerate(random.sample(_LAST, _ELEVEN))
    ]
    return Team(stable_id("team", name), name, team_code(name), tuple(people))


def _limited(play: _Play, teams: tuple[Team, Team], *, tie: bool) -> list[Innings]:
    first, second = teams
    one = play.innings(_Task(1, first, second))
    two = play.innings(_Task(2, second, first, target=one.runs + 1, tied=tie))
    innings = [one, two]
    while innings[-1].runs == innings[-2].runs:
        number = len(innings) + 1
        opening = play.innings(_Task(number, second, first, super_over=True))
        task = _Task(number + 1, first, second, target=opening.runs + 1, super_over=True)
        innings += [opening, play.innings(task)]
    return innings


def _test(play: _Play, first: Team, second: Team) -> list[Innings]:
    """Play up to four innings; one that goes on too long is declared."""
    one, two = play.innings(_Task(1, first, second)), play.innings(_Task(2, second, first))
    three = play.innings(_Task(3, first, second))
    target = one.runs + three.runs - two.runs + 1
    if target <= 0:
        return [one, two, three]
    return [one, two, three, play.innings(_Task(4, second, first, target=target))]


def _outcome(innings: list[Innings], form: str) -> Outcome:
    """Return the winner by the last innings."""
    last, before = innings[-1], innings[-2]
    chasing, other = last.team, before.team
    if last.super_over:
        winner = chasing if last.runs > before.runs else other
        return Outcome(winner, f"{winner.name} won the super over")
    if last.target is None:
        lead = sum(each.runs for each in innings if each.team == other) - sum(
            each.runs for each in innings if each.team == chasing
        )
        return Outcome(other, f"{other.name} won by an innings and {format_count(lead, 'run')}")
    wickets = sum(ball.wicket for ball in last.deliveries)
    if last.runs >= last.target:
        return Outcome(
            chasing, f"{chasing.name} won by {format_count(_ALL_OUT - wickets, 'wicket')}"
        )
    short = last.target - 1 - last.runs
    if form == "Test" and wickets < _ALL_OUT:
        return Outcome(None, "Match drawn", "Match drawn")
    if not short:
        return Outcome(None, "Match tied", "Match tied")
    return Outcome(other, f"{other.name} won by {format_count(short, 'run')}")


@dataclass(frozen=True, slots=True)
class _Task:
    """An innings to play; `tied` ends it one run short of the target."""

    number: int
    batting: Team
    bowling: Team
    target: int | None = None
    tied: bool = False
    super_over: bool = False


@dataclass
class _Standing:
    """An innings being played."""

    task: _Task
    crease: list[Player]
    waiting: list[Player]
    balls: list[Delivery] = field(default_factory=list)
    runs: int = 0
    wickets: int = 0

    @property
    def is_over(self) -> bool:
        out = _SUPER_OVER_OUT if self.task.super_over else _ALL_OUT
        won = self.task.target is not None and self.runs >= self.task.target
        return won or self.wickets >= out or len(self.crease) < 2

    def take(self, ball: Delivery) -> None:
        self.balls.append(ball)
        self.runs += ball.total
        self.wickets += ball.wicket
        ran = ball.runs + ball.byes + ball.legbyes
        if ran % 2 and not ball.boundary:
            self.crease.reverse()
        if ball.dismissal is not None:
            self.crease.remove(ball.dismissal.out)
            if self.waiting:
                self.crease.insert(0, self.waiting.pop(0))


@dataclass
class _Play:
    """Plays innings by the probabilities of a format."""

    random: Random
    form: str

    def innings(self, task: _Task) -> Innings:
        """Play an innings until it is won, all are out, or its overs are bowled."""
        allowed = 1 if task.super_over else (FORMATS[self.form] or _DAYS_OVERS)
        people = task.batting.players
        now = _Standing(task, [*people[:2]], [*people[2:]])
        for over in range(allowed):
            if now.is_over:
                break
            self._over(now, over, (allowed - over) * BALLS_PER_OVER)
            now.crease.reverse()
        return Innings(
            task.number,
            task.batting,
            tuple(now.balls),
            super_over=task.super_over,
            declared=self.form == "Test" and task.target is None and not now.is_over,
            target=task.target,
            overs=allowed if task.target is not None and self.form != "Test" else None,
            powerplays=()
            if task.super_over or self.form == "Test"
            else (f"1-{allowed * 3 // 10}",),
        )

    def _over(self, now: _Standing, over: int, left: int) -> None:
        """Bowl an over; two bowlers take turns at each end."""
        bowler = now.task.bowling.players[-1 - (over % 2) - 2 * self.random.randrange(2)]
        legal = 0
        while legal < BALLS_PER_OVER and not now.is_over:
            batter, partner = now.crease
            plain = Delivery(now.task.number, over, legal + 1, batter, partner, bowler)
            ball = self._ball(now, plain, left - legal)
            now.take(ball)
            legal += ball.legal

    def _ball(self, now: _Standing, plain: Delivery, left: int) -> Delivery:
        task = now.task
        if task.tied and task.target is not None:
            return self._towards_a_tie(now, plain, left, task.target - 1 - now.runs)
        chance, wickets = self.random.random(), _WICKET_SHARE[self.form]
        if chance < wickets:
            return self._wicket(plain, task.bowling)
        if chance < wickets + _EXTRA_SHARE:
            return self._extra(plain)
        if chance > 1 - _HURT_SHARE and len(now.waiting) > 1:
            return replace(plain, dismissal=Dismissal(plain.batter, "retired hurt"))
        return _scored(plain, self._runs())

    def _towards_a_tie(self, now: _Standing, plain: Delivery, left: int, short: int) -> Delivery:
        """Bowl a ball after which the side can still end exactly so many runs short."""
        early = left > 2 * BALLS_PER_OVER and now.wickets < _SPARED and short <= 4 * (left - 1)
        if early and self.random.random() < _WICKET_SHARE[self.form]:
            return self._wicket(plain, now.task.bowling)
        return _scored(plain, self._steered(left, short))

    def _runs(self) -> int:
        values, weights = _RUNS[self.form]
        return self.random.choices(values, weights)[0]

    def _steered(self, left: int, short: int) -> int:
        """Return runs that let a side end exactly so many short."""
        least, wanted = max(0, short - 4 * (left - 1)), self._runs()
        fitting = [runs for runs in _RUNS[self.form][0] if least <= runs <= short]
        return min(fitting, key=lambda runs: abs(runs - wanted))

    def _wicket(self, plain: Delivery, bowling: Team) -> Delivery:
        kind = self.random.choices(*_WAYS)[0]
        fielder = self.random.choice(bowling.players)
        out = plain.partner if kind == "run out" and self.random.random() < 1 / 2 else plain.batter
        aside = kind in {"caught", "run out", "stumped"}
        return replace(plain, dismissal=Dismissal(out, kind, fielder if aside else None))

    def _extra(self, plain: Delivery) -> Delivery:
        kind = self.random.choices(*_EXTRAS)[0]
        number = self.random.choices((1, 2, 4, 5), (80, 6, 10, 4))[0]
        if kind == "wides":
            return replace(plain, wides=number)
        if kind == "noballs":
            return _scored(replace(plain, noballs=1), self._runs())
        byes = min(number, 4)
        return replace(plain, byes=byes) if kind == "byes" else replace(plain, legbyes=byes)


def _scored(plain: Delivery, runs: int) -> Delivery:
    return replace(plain, runs=runs, boundary=runs in {4, 6})
