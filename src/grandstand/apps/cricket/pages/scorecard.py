"""The scorecard, overs and charts of a match page, and the labels of scores and events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grandstand.apps.cricket.domain import matches
from grandstand.apps.cricket.domain.match_events import EventKind, FilterReason
from grandstand.kit.charts import Axis, Chart, Plot

_TONES: Final = ("5", "1", "2", "3")
_DISMISSALS: Final = {
    "catch out": "caught",
    "clean bowled": "bowled",
    "lbw out": "lbw",
    "stump out": "stumped",
}
"""Dismissals as the feed and as scorecards name them."""


@dataclass(frozen=True, slots=True)
class BatterRow:
    """One batter's row."""

    name: str
    dismissal: str
    runs: int
    balls: int
    fours: int
    sixes: int
    strike_rate: str
    out: bool


@dataclass(frozen=True, slots=True)
class BowlerRow:
    """One bowler's row."""

    name: str
    overs: str
    maidens: int
    runs: int
    wickets: int
    economy: str


@dataclass(frozen=True, slots=True)
class InningsSheet:
    """The scorecard of one innings."""

    inning: int
    title: str
    score: matches.InningsScore
    run_rate: str
    batting: tuple[BatterRow, ...]
    bowling: tuple[BowlerRow, ...]
    extras: int
    wickets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OverSummary:
    """One over: its balls, runs and wickets, and the score after it."""

    inning: int
    number: int
    balls: tuple[matches.Ball, ...]
    runs: int
    wickets: int
    total: int
    total_wickets: int
    legal_balls: int


def build_sheets(snapshot: matches.MatchSnapshot) -> tuple[InningsSheet, ...]:
    """Return the scorecards of all innings, latest first."""
    return tuple(_sheet(snapshot, score) for score in reversed(snapshot.innings))


def _sheet(snapshot: matches.MatchSnapshot, score: matches.InningsScore) -> InningsSheet:
    board = snapshot.board_of(score.inning) or matches.Board(score.inning)
    side = snapshot.side(score.team_id)
    own = [each.inning for each in snapshot.innings if each.team_id == score.team_id]
    name = team_name(side) if side else f"Innings {score.inning}"
    off_the_bat = sum(line.score for line in board.batting)
    return InningsSheet(
        inning=score.inning,
        title=f"{name}, second innings" if own.index(score.inning) else name,
        score=score,
        run_rate=matches.format_run_rate(score.score, score.position) or "",
        batting=tuple(_batter(snapshot, line) for line in board.batting),
        bowling=tuple(_bowler(snapshot, line) for line in board.bowling),
        extras=max(0, score.score - off_the_bat),
        wickets=_fall_of_wickets(snapshot, board),
    )


def _batter(snapshot: matches.MatchSnapshot, line: matches.BattingLine) -> BatterRow:
    rate = f"{line.score * 100 / line.balls:.1f}" if line.balls else "–"
    dismissal = _dismissal(snapshot, line) if line.out else "not out"
    name = snapshot.player(line.player_id) or f"Player {line.player_id}"
    return BatterRow(
        name, dismissal, line.score, line.balls, line.fours, line.sixes, rate, line.out
    )


def _dismissal(snapshot: matches.MatchSnapshot, line: matches.BattingLine) -> str:
    """Return the dismissal from the ball of the wicket, if balls are known."""
    for ball in reversed(snapshot.balls):
        if ball.inning == line.inning and ball.out_id == line.player_id:
            bowler = snapshot.player(ball.bowler_id)
            feed_name = (ball.how or "out").lower()
            name = _DISMISSALS.get(feed_name.removesuffix(" (sub)"), feed_name)
            return f"{name}, b {bowler}" if ball.credited and bowler else name
    return "out"


def _bowler(snapshot: matches.MatchSnapshot, line: matches.BowlingLine) -> BowlerRow:
    name = snapshot.player(line.player_id) or f"Player {line.player_id}"
    economy = matches.format_run_rate(line.runs, matches.overs_to_balls(line.overs)) or "–"
    overs = str(line.overs.normalize()) if line.overs else "0"
    return BowlerRow(name, overs, line.maidens, line.runs, line.wickets, economy)


def _fall_of_wickets(snapshot: matches.MatchSnapshot, board: matches.Board) -> tuple[str, ...]:
    out = [line for line in board.batting if line.out and line.fall_overs is not None]
    out.sort(key=lambda line: (line.fall_overs or 0, line.fall_score or 0))
    return tuple(
        f"{number}-{line.fall_score} ({snapshot.player(line.player_id)}, {line.fall_overs})"
        for number, line in enumerate(out, start=1)
    )


def group_overs(balls: Sequence[matches.Ball]) -> tuple[OverSummary, ...]:
    """Return the overs of a match in order."""
    by_over: dict[tuple[int, int], list[matches.Ball]] = {}
    for ball in balls:
        by_over.setdefault((ball.inning, ball.over), []).append(ball)
    overs: list[OverSummary] = []
    total, total_wickets, legal_balls, last_inning = 0, 0, 0, 0
    for (inning, number), over in sorted(by_over.items()):
        if inning != last_inning:
            total, total_wickets, legal_balls, last_inning = 0, 0, 0, inning
        runs = sum(ball.runs + ball.extras for ball in over)
        wickets = sum(ball.wicket for ball in over)
        total, total_wickets = total + runs, total_wickets + wickets
        legal_balls += sum(ball.legal for ball in over)
        overs.append(
            OverSummary(
                inning, number, tuple(over), runs, wickets, total, total_wickets, legal_balls
            )
        )
    return tuple(overs)


def innings_labels(snapshot: matches.MatchSnapshot) -> dict[int, str]:
    """Return the label of each innings: the team's code, numbered from the second on."""
    labels: dict[int, str] = {}
    for score in snapshot.innings:
        side = snapshot.side(score.team_id)
        code = team_code(side) if side else f"Innings {score.inning}"
        earlier = sum(1 for label in labels.values() if label.split(" ")[0] == code)
        labels[score.inning] = f"{code} ({earlier + 1})" if earlier else code
    return labels


def worm_chart(snapshot: matches.MatchSnapshot, overs: Sequence[OverSummary]) -> Chart:
    """Return the runs of each innings over by over, with wickets marked."""
    labels = innings_labels(snapshot)
    plots: list[Plot] = []
    for at, inning in enumerate(sorted({over.inning for over in overs})):
        own = [over for over in overs if over.inning == inning]
        label, tone = labels.get(inning, f"Innings {inning}"), _TONES[at % len(_TONES)]
        rows = ((0.0, 0), *((_overs_bowled(over), over.total) for over in own))
        plots.append(Plot(label, "line", rows, tone))
        wickets = tuple((_overs_bowled(over), over.total) for over in own if over.wickets)
        if wickets:
            plots.append(Plot(f"{label} wickets", "scatter", wickets, tone))
    note = "Runs after every over. Dots are overs with a wicket."
    return _chart("Worm", note, Axis("Runs", digits=0), plots)


def rate_chart(snapshot: matches.MatchSnapshot, overs: Sequence[OverSummary]) -> Chart:
    """Return the run rate of each innings over by over, and the required rate of a chase."""
    labels = innings_labels(snapshot)
    plots: list[Plot] = []
    for at, inning in enumerate(sorted({over.inning for over in overs})):
        own = [over for over in overs if over.inning == inning and over.legal_balls]
        label = labels.get(inning, f"Innings {inning}")
        rows = tuple(
            (_overs_bowled(over), round(over.total * matches.BALLS_PER_OVER / over.legal_balls, 2))
            for over in own
        )
        plots.append(Plot(label, "line", rows, _TONES[at % len(_TONES)]))
        required = _required_rates(snapshot, inning, own)
        if required:
            plots.append(Plot(f"{label} required", "step", required, "quiet"))
    note = "Runs per over since the start of the innings, and the required rate of a chase."
    return _chart("Run rate", note, Axis("Runs per over", digits=2), plots)


def _chart(title: str, note: str, y: Axis, plots: Sequence[Plot]) -> Chart:
    x = Axis("Overs", digits=0)
    return Chart(title=title, note=note, x=x, y=y, plots=tuple(plots), height=260)


def _overs_bowled(over: OverSummary) -> float:
    whole, rest = divmod(over.legal_balls, matches.BALLS_PER_OVER)
    return round(whole + rest / matches.BALLS_PER_OVER, 3)


def _required_rates(
    snapshot: matches.MatchSnapshot, inning: int, overs: Sequence[OverSummary]
) -> tuple[tuple[float, float], ...]:
    target, allowed = (
        matches.winning_target(snapshot, inning),
        matches.balls_allowed(snapshot, inning),
    )
    if target is None or allowed is None:
        return ()
    rows = []
    for over in overs:
        balls_left, runs_needed = allowed - over.legal_balls, max(0, target - over.total)
        if balls_left >= matches.BALLS_PER_OVER and runs_needed:
            rate = round(runs_needed * matches.BALLS_PER_OVER / balls_left, 2)
            rows.append((_overs_bowled(over), rate))
    return tuple(rows)


EVENT_LABELS: Final[dict[EventKind, str]] = {
    "match_end": "Match over",
    "innings_end": "Innings over",
    "hattrick": "Hat-trick",
    "super_over_start": "Super over",
    "wicket": "Wicket",
    "hundred": "Hundred",
    "fifty": "Fifty",
    "bowler_on_fire": "Bowler on fire",
    "on_hattrick": "On a hat-trick",
    "rain_delay": "Play delayed",
    "play_resumed": "Play resumed",
    "target_revised": "Target revised",
    "toss": "Toss",
    "match_start": "Match start",
    "consecutive_sixes": "Consecutive sixes",
    "batsman_on_90s": "In the nineties",
    "batsman_on_fire": "Batter on fire",
    "six": "Six",
    "four": "Four",
    "maiden": "Maiden over",
    "over_end": "End of over",
    "new_batsman": "New batter",
    "stumps": "Stumps",
    "lunch": "Lunch",
    "tea": "Tea",
    "dinner": "Dinner",
}
_FILTER_REASONS: Final[dict[FilterReason, str]] = {
    "cooldown": "a similar event was pushed shortly before",
    "stale": "the match had moved on",
    "outranked": "a more important event happened at the same time",
}
_STATUSES: Final = {
    "NS": "Not started",
    "Int.": "Interrupted",
    "Aban.": "Abandoned",
    "Cancl.": "Canceled",
    "Postp.": "Postponed",
}
_END_REASONS: Final = {
    "match_ended": "match over",
    "unfollowed": "unfollowed",
    "dismissed": "dismissed on the phone",
    "token_invalid": "token no longer valid",
}


def end_reason_label(reason: str | None) -> str:
    return _END_REASONS.get(reason or "", "")


def status_label(status: str) -> str:
    """Return the feed's status in full."""
    return _STATUSES.get(status, status)


def team_name(side: matches.Side) -> str:
    return side.name or side.code or "TBD"


def team_code(side: matches.Side) -> str:
    return side.code or side.name[:3].upper() or "?"


def team_innings(
    innings: Iterable[matches.InningsScore], side: matches.Side
) -> tuple[matches.InningsScore, ...]:
    """Return the innings of a team in order."""
    return tuple(score for score in innings if score.team_id == side.team_id)


def format_score(score: matches.InningsScore) -> str:
    """Return a score such as 142/4, or 142 if all are out."""
    return str(score.score) if score.wickets >= 10 else f"{score.score}/{score.wickets}"


TEMPLATE_FUNCTIONS: Final[dict[str, Any]] = {
    "event_label": EVENT_LABELS.__getitem__,
    "filter_label": _FILTER_REASONS.__getitem__,
    "format_score": format_score,
    "status_label": status_label,
    "team_code": team_code,
    "team_innings": team_innings,
    "team_name": team_name,
}
"""The functions that every template may call."""
