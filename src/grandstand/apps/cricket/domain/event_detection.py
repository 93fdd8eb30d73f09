"""Detection of match events by comparing two snapshots of a match."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, islice
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

from grandstand.apps.cricket.domain.match_events import (
    CooldownFilter,
    EventKind,
    MatchEvent,
    Thresholds,
)
from grandstand.apps.cricket.domain.match_state import (
    MAX_BALLS,
    MAX_NOTE_CHARS,
    MatchState,
    Tick,
    compare_balls,
)
from grandstand.apps.cricket.domain.matches import (
    BALLS_PER_OVER,
    FINISHED,
    Ball,
    BattingLine,
    Board,
    BowlingLine,
    InningsScore,
    MatchSnapshot,
    Pause,
    count_regular_innings,
    current_inning,
    is_innings_complete,
    is_multi_day,
    overs_to_balls,
    pause_for_status,
    phase_for_status,
)

RunningScores: TypeAlias = dict[int, tuple[int, int]]
"""A batter's runs and balls faced after each ball, by ball id."""

_ID: Final = attrgetter("id")


def running_scores(balls: Sequence[Ball], lines: Iterable[BattingLine]) -> RunningScores:
    """Return each batter's runs and balls faced after each ball, counted back from the figures."""
    figures = {line.player_id: (line.score, line.balls) for line in lines}
    trail: RunningScores = {}
    for ball in reversed(balls):
        now = figures.get(ball.batter_id)
        if now is None:
            continue
        trail[ball.id] = now
        figures[ball.batter_id] = (now[0] - ball.runs, now[1] - (ball.extra != "wide"))
    return trail


def detect_ball_events(tick: Tick, balls: Sequence[Ball], trail: RunningScores) -> None:
    """Detect boundaries, hat-tricks, runs of sixes, maidens and batters on fire."""
    rules = tick.thresholds
    for ball in balls:
        reposted = _find_reposted(tick, ball) if tick.retracted else None
        if ball.six or ball.four:
            _boundary(tick, ball, reposted)
        _wickets_in_a_row(tick, ball, reposted)
        if ball.extra != "wide":
            _sixes_in_a_row(tick, ball, reposted)
        if ball.number >= BALLS_PER_OVER and not ball.runs and ball.legal:
            _maiden(tick, ball, reposted)
        now = trail.get(ball.id) if ball.out_id != ball.batter_id else None
        if now and (now[0] >= rules.fire_runs or now[1] >= rules.fire_balls):
            _check_on_fire(tick, ball, now)


def _latest_balls(tick: Tick, ball: Ball) -> Iterator[Ball]:
    """Return the last 30 balls when a new ball was bowled, latest first."""
    known, new = tick.known, tick.changes.new
    place = bisect_left(new, ball.id, key=_ID) + 1
    return islice(chain(reversed(new[:place]), reversed(known)), MAX_BALLS)


def apply_ball_corrections(tick: Tick) -> None:
    """Apply corrections of known balls; report only hat-tricks that they complete."""
    changes = tick.changes
    kept = {ball.id: ball for ball in tick.previous.balls}
    kept.update({now.id: now for _, now in changes.changed})
    for ball in changes.deleted:
        del kept[ball.id]
    balls = tick.known = tuple(kept.values())
    tick.retracted = [*tick.retracted, *changes.deleted][-6:]
    touched = [*changes.deleted, *(ball for pair in changes.changed for ball in pair)]
    tick.peaks.update(
        {f"h{old.id}": 1 for old, now in changes.changed if old.credited > now.credited}
    )
    for bowler in sorted({ball.bowler_id for ball in touched}):
        _recount_wickets(tick, bowler, balls)
    for batter in sorted({ball.batter_id for ball in touched}):
        _recount_sixes(tick, batter, balls)


def _find_reposted(tick: Tick, ball: Ball) -> Ball | None:
    """Return the deleted ball that a new one replaces, once."""
    for gone in tick.retracted:
        if (gone.inning, gone.over, gone.number) == (ball.inning, ball.over, ball.number):
            tick.retracted.remove(gone)
            return gone
    return None


def _boundary(tick: Tick, ball: Ball, reposted: Ball | None) -> None:
    if ball.six and not (reposted and reposted.six):
        text = f"SIX! {tick.batter(ball.batter_id)}"
        tick.record("six", str(ball.id), text, ball=ball, player_id=ball.batter_id)
    elif ball.four and not (reposted and reposted.four):
        text = f"Four, {tick.batter(ball.batter_id)}"
        tick.record("four", str(ball.id), text, ball=ball, player_id=ball.batter_id)


def _wickets_in_a_row(tick: Tick, ball: Ball, reposted: Ball | None) -> None:
    """Count wickets in a row; any delivery without one, wides included, ends the run."""
    name = f"h{ball.bowler_id}"
    if not ball.credited:
        tick.in_a_row.pop(name, None)
        return
    row = tick.in_a_row[name] = tick.in_a_row.get(name, 0) + 1
    if not (reposted and reposted.credited):
        _record_wicket_run(tick, ball, row)


def _record_wicket_run(tick: Tick, ball: Ball, row: int) -> None:
    who, key = tick.bowler(ball.bowler_id), f"{ball.bowler_id}:{ball.id}"
    if row == 2:
        text = f"{who} is on a hat-trick"
        tick.record("on_hattrick", key, text, ball=ball, player_id=ball.bowler_id, value=row)
    elif row >= 3:
        text = f"HAT-TRICK! {who}" if row == 3 else f"{row} in {row}! {who}"
        tick.record("hattrick", key, text, ball=ball, player_id=ball.bowler_id, value=row)


def _sixes_in_a_row(tick: Tick, ball: Ball, reposted: Ball | None) -> None:
    name = f"x{ball.batter_id}"
    if not ball.six:
        tick.in_a_row.pop(name, None)
        return
    row = tick.in_a_row[name] = tick.in_a_row.get(name, 0) + 1
    if row >= tick.thresholds.sixes_in_a_row and not (reposted and reposted.six):
        text = f"{row} sixes in a row by {tick.batter(ball.batter_id)}"
        key, batter = f"{ball.batter_id}:{ball.id}", ball.batter_id
        tick.record("consecutive_sixes", key, text, ball=ball, player_id=batter, value=row)


def _maiden(tick: Tick, ball: Ball, reposted: Ball | None) -> None:
    """Record a maiden: six legal balls of one bowler without runs off the bat or extras."""
    over: list[Ball] = []
    for each in _latest_balls(tick, ball):
        if each.over != ball.over or each.inning != ball.inning:
            break
        over.append(each)
    clean = all(each.runs == 0 and each.legal and each.bowler_id == ball.bowler_id for each in over)
    if clean and len(over) == BALLS_PER_OVER and reposted is None:
        text = f"Maiden over by {tick.bowler(ball.bowler_id)}"
        key, bowler = f"{ball.inning}:{ball.over + 1}", ball.bowler_id
        tick.record("maiden", key, text, ball=ball, player_id=bowler, value=ball.over + 1)


def _check_on_fire(tick: Tick, ball: Ball, now: tuple[int, int]) -> None:
    (score, faced), rules, name = now, tick.thresholds, f"f{ball.batter_id}"
    burning = faced >= rules.fire_balls and score * 100 >= rules.fire_rate * faced
    if not burning and score >= rules.fire_runs:
        burning = _recent_runs(tick, ball) >= rules.fire_runs
    if not burning:
        tick.in_a_row.pop(name, None)
    elif name not in tick.in_a_row:
        tick.in_a_row[name] = 1
        text = f"{tick.batter(ball.batter_id)} is on fire: {score} ({faced})"
        key, batter = f"{ball.batter_id}:{ball.id}", ball.batter_id
        tick.record("batsman_on_fire", key, text, ball=ball, player_id=batter, value=score)


def _recent_runs(tick: Tick, ball: Ball) -> int:
    """Return a batter's runs off the last balls faced, within the last 30 balls."""
    runs, left = 0, tick.thresholds.fire_window
    for each in _latest_balls(tick, ball):
        if each.batter_id == ball.batter_id and each.extra != "wide":
            runs += each.runs
            left -= 1
            if not left:
                break
    return runs


def _recount_wickets(tick: Tick, bowler: int, balls: Sequence[Ball]) -> None:
    row: list[Ball] = []
    for ball in reversed(balls):
        if ball.bowler_id == bowler:
            if not ball.credited:
                break
            row.append(ball)
    name = f"h{bowler}"
    tick.in_a_row.pop(name, None)
    if not row:
        return
    tick.in_a_row[name] = len(row)
    became = {
        now.id
        for old, now in tick.changes.changed
        if now.credited and not old.credited and f"h{now.id}" not in tick.peaks
    }
    if became.intersection(ball.id for ball in row):
        _record_wicket_run(tick, row[0], len(row))


def _recount_sixes(tick: Tick, batter: int, balls: Sequence[Ball]) -> None:
    row = 0
    for ball in reversed(balls):
        if ball.batter_id != batter or ball.extra == "wide":
            continue
        if not ball.six or ball.inning != tick.inning:
            break
        row += 1
    tick.in_a_row.pop(f"x{batter}", None)
    if row:
        tick.in_a_row[f"x{batter}"] = row


_MILESTONE_LABELS: Final = {50: "FIFTY", 100: "HUNDRED"}


@dataclass(frozen=True, slots=True)
class _Fall:
    """A wicket: who, at which position, and on which ball if known."""

    player_id: int
    position: int
    ball: Ball | None = None


def detect_figure_events(
    tick: Tick, board: Board, balls: Sequence[Ball], trail: RunningScores
) -> None:
    """Detect wickets, milestones and new batters from batting and bowling figures."""
    before = tick.previous if tick.inning == tick.previous.memory.inning else None
    falls = _falls_of_balls(tick, balls)
    known = before.batting if before else ()
    if known is not board.batting and board.batting:
        tick.resync |= len(known) > len(board.batting)
        for old, line in _batters_moved(known, board.batting):
            _batter(tick, old, line, (balls, trail))
            if line.out and not (old and old.out):
                overs = line.fall_overs
                position = tick.position if overs is None else overs_to_balls(overs)
                falls.setdefault(line.player_id, _Fall(line.player_id, position))
    if falls:
        lines = {line.player_id: line for line in board.batting}
        for fall in falls.values():
            _wicket(tick, fall, lines)
    bowled = before.bowling if before else ()
    if bowled is not board.bowling and board.bowling:
        for earlier, bowling in _bowlers_moved(bowled, board.bowling):
            _bowler(tick, earlier, bowling)


def _batters_moved(
    before: Sequence[BattingLine], now: Sequence[BattingLine]
) -> list[tuple[BattingLine | None, BattingLine]]:
    """Return the changed lines with their previous ones; lines mostly keep their places."""
    moved: list[tuple[BattingLine | None, BattingLine]] = []
    for place, line in enumerate(now):
        old = before[place] if place < len(before) else None
        if old is None or old.player_id != line.player_id:
            old = next((each for each in before if each.player_id == line.player_id), None)
        if old is None or old.balls != line.balls or old.score != line.score or old.out != line.out:
            moved.append((old, line))
    return moved


def _bowlers_moved(
    before: Sequence[BowlingLine], now: Sequence[BowlingLine]
) -> list[tuple[BowlingLine | None, BowlingLine]]:
    """Return the lines whose wickets changed, with their previous ones."""
    moved: list[tuple[BowlingLine | None, BowlingLine]] = []
    for place, line in enumerate(now):
        old = before[place] if place < len(before) else None
        if old is None or old.player_id != line.player_id:
            old = next((each for each in before if each.player_id == line.player_id), None)
        if old is None or old.wickets != line.wickets:
            moved.append((old, line))
    return moved


def detect_score_events(tick: Tick, score: InningsScore, *, has_details: bool) -> None:
    """Detect completed overs, and wickets if the feed has no details."""
    for before in tick.previous.score:
        if before.inning == score.inning:
            tick.resync |= (
                score.score < before.score
                or score.wickets < before.wickets
                or score.overs < before.overs
            )
    done = score.position // BALLS_PER_OVER
    for over in range(tick.overs_done + 1, done + 1):
        text = f"End of over {over}" + (f": {tick.standing}" if over == done else "")
        place = over * BALLS_PER_OVER
        tick.record("over_end", f"{score.inning}:{over}", text, position=place, value=over)
    tick.overs_done = max(tick.overs_done, done)
    if has_details:
        return
    reported = max(tick.peaks.get("out", 0), len(tick.fallen))
    for number in range(reported + 1, score.wickets + 1):
        key = f"{score.inning}:number {number}"
        tick.record("wicket", key, f"WICKET! {tick.standing}", value=number)
    if score.wickets > reported:
        tick.peaks["out"] = score.wickets


def _falls_of_balls(tick: Tick, balls: Sequence[Ball]) -> dict[int, _Fall]:
    """Return the wickets of new balls and of corrected ones."""
    became = [
        now
        for old, now in tick.changes.changed
        if now.wicket and now.inning == tick.inning and (not old.wicket or old.out_id != now.out_id)
    ]
    falls: dict[int, _Fall] = {}
    for ball in (*became, *balls):
        if ball.wicket:
            player = ball.batter_id if ball.out_id is None else ball.out_id
            falls[player] = _Fall(player, ball.position, ball)
    return falls


def _wicket(tick: Tick, fall: _Fall, lines: Mapping[int, BattingLine]) -> None:
    """Record a wicket once.

    A wicket that was retracted and reported again for the same ball is the same one; figures
    alone give the ball less exactly.
    """
    name = str(fall.player_id)
    reported = tick.fallen.get(name)
    tick.in_a_row.pop(f"x{name}", None)
    tick.in_a_row.pop(f"f{name}", None)
    leeway = 1 if fall.ball else BALLS_PER_OVER
    if reported is not None and abs(fall.position - reported) <= leeway:
        return
    tick.fallen[name] = fall.position
    if len(tick.fallen) <= tick.peaks.get("out", 0):
        return  # it was reported by its number, when the feed had no names
    line = lines.get(fall.player_id)
    figures = f" {line.score} ({line.balls})" if line else ""
    how = f", {fall.ball.how.lower()}" if fall.ball and fall.ball.how else ""
    text = f"WICKET! {tick.batter(fall.player_id)}{figures}{how}"
    key = f"{tick.inning}:{name}:{fall.position}"
    tick.record(
        "wicket", key, text, ball=fall.ball, position=fall.position, player_id=fall.player_id
    )


def _batter(
    tick: Tick,
    old: BattingLine | None,
    line: BattingLine,
    walked: tuple[Sequence[Ball], RunningScores],
) -> None:
    """Record each milestone a batter passed once, and that a new batter came in."""
    if line.player_id not in tick.batters_in:
        tick.batters_in.append(line.player_id)
        if len(tick.batters_in) > 2:
            text = f"{tick.batter(line.player_id)} comes in"
            key = f"{tick.inning}:{line.player_id}"
            tick.record("new_batsman", key, text, player_id=line.player_id)
    before = _previous_peak(tick, f"b{line.player_id}", old.score if old else 0, line.score)
    if line.score <= before:
        return
    rules = tick.thresholds
    if before < rules.fifty <= line.score:
        _milestone(tick, "fifty", rules.fifty, line, walked)
    if before < rules.nineties <= line.score:
        _milestone(tick, "batsman_on_90s", rules.nineties, line, walked)
    for mark in rules.hundreds:
        if before < mark <= line.score:
            _milestone(tick, "hundred", mark, line, walked)


def _milestone(
    tick: Tick,
    kind: EventKind,
    mark: int,
    line: BattingLine,
    walked: tuple[Sequence[Ball], RunningScores],
) -> None:
    balls, trail = walked
    passing = next(
        (
            ball
            for ball in balls
            if ball.batter_id == line.player_id and trail.get(ball.id, (0, 0))[0] >= mark
        ),
        None,
    )
    score, faced = trail[passing.id] if passing else (line.score, line.balls)
    figures = f"{tick.batter(line.player_id)} {score} ({faced})"
    text = (
        f"{_MILESTONE_LABELS.get(mark, mark)}! {figures}" if kind != "batsman_on_90s" else figures
    )
    key = f"{tick.inning}:{line.player_id}:{mark}"
    tick.record(kind, key, text, ball=passing, player_id=line.player_id, value=mark)


def _bowler(tick: Tick, old: BowlingLine | None, line: BowlingLine) -> None:
    before = _previous_peak(tick, f"w{line.player_id}", old.wickets if old else 0, line.wickets)
    for mark in tick.thresholds.wickets:
        if before < mark <= line.wickets:
            text = f"{tick.bowler(line.player_id)} has {line.wickets}-{line.runs} ({line.overs})"
            tick.record(
                "bowler_on_fire",
                f"{tick.inning}:{line.player_id}:{mark}",
                text,
                player_id=line.player_id,
                value=mark,
                alert=mark >= tick.thresholds.alerting_wickets,
            )


def _previous_peak(tick: Tick, name: str, old: int, now: int) -> int:
    """Return the highest previous value; it is remembered while the figure is below it."""
    before = max(old, tick.peaks.get(name, 0))
    if now < old:
        tick.resync = True
    if now < before:
        tick.peaks[name] = before
    else:
        tick.peaks.pop(name, None)
    return before


_BREAKS: Final[dict[Pause, tuple[EventKind, str]]] = {
    "stumps": ("stumps", "Stumps"),
    "lunch": ("lunch", "Lunch"),
    "tea": ("tea", "Tea"),
    "dinner": ("dinner", "Dinner"),
}
_ORDINALS: Final = {1: "1st", 2: "2nd", 3: "3rd"}


def detect_match_events(tick: Tick) -> None:
    """Detect toss, start, pauses, revisions, super overs, innings and match ends.

    Call it last, when the tick has reached the current innings.
    """
    snapshot, reported = tick.snapshot, tick.reported
    reported.note = snapshot.note[:MAX_NOTE_CHARS]
    if snapshot.toss_team_id is not None and not reported.tossed:
        _toss(tick)
    if snapshot.revision:
        _revision(tick)
    if snapshot.status != tick.previous.status:
        _status(tick)
    if snapshot.super_over or tick.inning > 2:
        _super_over(tick)
    if reported.innings_ended < tick.inning:
        _innings_ended(tick)
    if not reported.ended and phase_for_status(snapshot.status) == "ended":
        reported.ended = True
        tick.record("match_end", "", _result(snapshot))


def _toss(tick: Tick) -> None:
    snapshot = tick.snapshot
    side = snapshot.side(snapshot.toss_team_id)
    winner = (side.name or side.code) if side else "One side"
    chose = f" and chose {snapshot.elected}" if snapshot.elected else ""
    tick.reported.tossed = True
    tick.record("toss", "", f"{winner} won the toss{chose}", position=0, inning=1)


def _status(tick: Tick) -> None:
    snapshot, reported, before = (
        tick.snapshot,
        tick.reported,
        pause_for_status(tick.previous.status),
    )
    place = f"{tick.inning}:{tick.position}"
    pause, phase = pause_for_status(snapshot.status), phase_for_status(snapshot.status)
    began = not reported.started and (phase == "live" or bool(tick.position))
    if began:
        reported.started = True
        home, away = snapshot.home, snapshot.away
        names = f"{home.code or home.name} v {away.code or away.name}"
        tick.record("match_start", "", f"{names}: play begins", position=0, inning=1)
    if phase == "live" and before == "rain" and not began:
        tick.record("play_resumed", place, f"Play resumes: {tick.standing}".rstrip(": "))
    elif pause == "rain" and before != "rain":
        tick.record("rain_delay", place, f"Play is held up: {tick.standing}".rstrip(": "))
    elif pause in _BREAKS:
        kind, word = _BREAKS[pause]
        tick.record(kind, place, f"{word}: {tick.standing}".rstrip(": "))


def _revision(tick: Tick) -> None:
    revision, reported = tick.snapshot.revision, tick.reported
    if revision.text == reported.revision:
        return
    reported.revision = revision.text
    text = f"Target revised to {revision.target}" if revision.target else "Match shortened"
    if revision.overs:
        text = f"{text}{' in' if revision.target else ' to'} {revision.overs} overs"
    tick.record("target_revised", revision.text, text, value=revision.target)


def _super_over(tick: Tick) -> None:
    snapshot, reported = tick.snapshot, tick.reported
    if is_multi_day(snapshot.format):
        return
    regular = count_regular_innings(snapshot.format)
    number = max(int(snapshot.super_over), (tick.inning - regular + 1) // 2)
    for each in range(reported.super_overs + 1, number + 1):
        text = "Super over" if each == 1 else f"The {_nth(each)} super over"
        tick.record("super_over_start", str(each), text, value=each)
    reported.super_overs = max(reported.super_overs, number)


def _innings_ended(tick: Tick) -> None:
    snapshot, now, reported = tick.snapshot, tick.inning, tick.reported
    ended = now - 1
    score = snapshot.score_of(now)
    if score is not None:
        entered = (
            snapshot.status != tick.previous.status
            and pause_for_status(snapshot.status) == "innings"
        )
        decided = snapshot.winner_team_id is not None and snapshot.status == FINISHED
        if entered or decided or is_innings_complete(snapshot, score):
            ended = now
    for inning in range(reported.innings_ended + 1, ended + 1):
        _record_innings_end(tick, inning)
    reported.innings_ended = max(reported.innings_ended, ended)


def _record_innings_end(tick: Tick, inning: int) -> None:
    score = tick.snapshot.score_of(inning)
    side = tick.snapshot.side(score.team_id) if score else None
    figures = f": {side.code or side.name} {score.score}-{score.wickets}" if score and side else ""
    text = f"End of the {_nth(inning)} innings{figures}"
    place = score.position if score else 0
    tick.record("innings_end", str(inning), text, position=place, value=inning, inning=inning)


def _result(snapshot: MatchSnapshot) -> str:
    if snapshot.note:
        return snapshot.note
    if snapshot.no_result:
        return snapshot.no_result
    winner = snapshot.side(snapshot.winner_team_id)
    if winner:
        return f"{winner.name or winner.code} won"
    return {"fin": "The match is over", "aba": "Abandoned"}.get(snapshot.status[:3].lower(), "Off")


def _nth(number: int) -> str:
    return _ORDINALS.get(number, f"{number}th")


_DEFAULT: Final = Thresholds()
_place: Final = attrgetter("inning", "position")


class Detection(NamedTuple):
    """The result of a tick: the state to store, the events, and the key event.

    If it is not `changed`, only the time of the tick needs to be stored. `resync`: the feed
    corrected something. `joined`: the match was first seen late, so earlier events are not
    reported.
    """

    state: MatchState
    events: tuple[MatchEvent, ...] = ()
    key_event: MatchEvent | None = None
    changed: bool = False
    resync: bool = False
    joined: bool = False
    warnings: tuple[str, ...] = ()


def detect_events(
    previous: MatchState | None,
    current: MatchSnapshot,
    now: datetime,
    thresholds: Thresholds = _DEFAULT,
) -> Detection:
    """Compare the last state of a match with a new snapshot and return the events.

    Without a previous state the match is seen for the first time. Every milestone is reported
    once, however many balls lie between two ticks, and corrections do not repeat events.
    """
    if previous is None:
        first = _compare(MatchState(current.match_id), current, now, thresholds)
        return _join_late(first) if _is_late(current, thresholds) else first._replace(changed=True)
    return _compare(previous, current, now, thresholds)


def _is_late(current: MatchSnapshot, thresholds: Thresholds) -> bool:
    score = current.score_of(1)
    return (
        phase_for_status(current.status) == "ended"
        or current_inning(current) > 1
        or (score is not None and score.position > thresholds.join_balls)
    )


def _join_late(first: Detection) -> Detection:
    """Keep the state without events for what was before."""
    return Detection(
        replace(first.state, cooldowns={}, seq=1),
        changed=True,
        joined=True,
        warnings=first.warnings,
    )


def _compare(
    previous: MatchState, current: MatchSnapshot, now: datetime, thresholds: Thresholds
) -> Detection:
    changes = compare_balls(previous, current.balls)
    tick = Tick(previous, current, changes, thresholds)
    if tick.resync:
        apply_ball_corrections(tick)
    # From the last innings seen to the current one.
    for inning in range(tick.inning, max(tick.inning, current_inning(current)) + 1):
        if inning != tick.inning:
            tick.enter(inning)
        _process_innings(tick, inning)
    detect_match_events(tick)
    phase = phase_for_status(current.status)
    warnings = () if phase else (f"unknown status {current.status[:40]!r}",)
    if not (tick.events or tick.resync or _has_changed(tick)):
        return Detection(previous, warnings=warnings)
    if len(tick.events) > 1:
        tick.events.sort(key=_place)
    filtered = CooldownFilter(thresholds).apply(
        tick.events, current, tick.inning, previous.cooldowns, now=now
    )
    return Detection(
        _next_state(tick, filtered.cooldowns),
        filtered.events,
        filtered.key_event,
        changed=True,
        resync=tick.resync,
        warnings=warnings,
    )


def _process_innings(tick: Tick, inning: int) -> None:
    balls: Sequence[Ball] = tick.changes.new
    if balls and not balls[0].inning == balls[-1].inning == inning:
        balls = [ball for ball in balls if ball.inning == inning]
    board = tick.snapshot.board_of(inning) or Board(inning)
    trail = running_scores(balls, board.batting) if balls else {}
    if balls:
        detect_ball_events(tick, balls, trail)
    detect_figure_events(tick, board, balls, trail)
    score = tick.snapshot.score_of(inning)
    if score is not None:
        known = inning == tick.previous.memory.inning and (
            tick.previous.batting or tick.previous.balls
        )
        detect_score_events(tick, score, has_details=bool(board.batting or balls or known))


def _has_changed(tick: Tick) -> bool:
    """Return whether anything changed, though no event was detected."""
    if tick.changes.new:
        return True
    previous, current = tick.previous, tick.snapshot
    board = current.board_of(tick.inning)
    return bool(
        previous.status != current.status
        or previous.memory.note != tick.reported.note
        or (current.innings and previous.score != current.innings)
        or (board and board.batting and previous.batting != board.batting)
        or (board and board.bowling and previous.bowling != board.bowling)
    )


def _next_state(tick: Tick, cooldowns: dict[str, datetime]) -> MatchState:
    """Return the state to store; what the feed left out stays as it was."""
    previous, current, latest = tick.previous, tick.snapshot, tick.changes.latest
    kept = previous if previous.memory.inning == tick.inning else None
    board = current.board_of(tick.inning) or Board(tick.inning)
    return MatchState(
        current.match_id,
        current.status,
        phase_for_status(current.status) or previous.phase,
        current.innings or previous.score,
        board.batting or (kept.batting if kept else ()),
        board.bowling or (kept.bowling if kept else ()),
        latest,
        max(latest[-1].id, previous.ball_id or 0) if latest else previous.ball_id,
        cooldowns,
        tick.memory(),
        previous.seq + 1,
    )
