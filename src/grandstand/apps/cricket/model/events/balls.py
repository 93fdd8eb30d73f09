"""Kept here: what single balls tell: boundaries, hat-tricks, maidens, and batters on fire."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from operator import attrgetter
from typing import Final, TypeAlias

from grandstand.apps.cricket.model.events.tick import Tick
from grandstand.apps.cricket.model.scores import BALLS_PER_OVER, Ball, BattingLine
from grandstand.apps.cricket.model.state import KEPT_BALLS

Trail: TypeAlias = dict[int, tuple[int, int]]
"""A batter's runs and balls faced after a ball, by the ball's id."""

_ID: Final = attrgetter("id")
_ON_HATTRICK: Final = 2
_HATTRICK: Final = 3
_RETRACTED: Final = 6


def trail_of(balls: Sequence[Ball], lines: Iterable[BattingLine]) -> Trail:
    """Answer what each batter had after each ball, reckoned back from what they have now."""
    figures = {line.player_id: (line.score, line.balls) for line in lines}
    trail: Trail = {}
    for ball in reversed(balls):
        now = figures.get(ball.batter_id)
        if now is None:
            continue
        trail[ball.id] = now
        figures[ball.batter_id] = (now[0] - ball.runs, now[1] - (ball.extra != "wide"))
    return trail


def ball_events(tick: Tick, balls: Sequence[Ball], trail: Trail) -> None:
    """Find what new balls of the innings tell, one after the other."""
    rules = tick.thresholds
    for ball in balls:
        reposted = _reposted(tick, ball) if tick.retracted else None
        if ball.six or ball.four:
            _boundary(tick, ball, reposted)
        _wickets_in_a_row(tick, ball, reposted)
        if ball.extra != "wide":
            _sixes_in_a_row(tick, ball, reposted)
        if ball.number >= BALLS_PER_OVER and not ball.runs and ball.legal:
            _maiden(tick, ball, reposted)
        now = trail.get(ball.id) if ball.out_id != ball.batter_id else None
        if now and (now[0] >= rules.fire_runs or now[1] >= rules.fire_balls):
            _fire(tick, ball, now)


def _latest(tick: Tick, ball: Ball) -> Iterator[Ball]:
    """The last thirty balls as they were when a new ball was bowled, the latest first."""
    known, new = tick.known, tick.heard.new
    place = bisect_left(new, ball.id, key=_ID) + 1
    return islice(chain(reversed(new[:place]), reversed(known)), KEPT_BALLS)


def resync_balls(tick: Tick) -> None:
    """Take in corrections of known balls without a word, unless they make a hat-trick."""
    heard = tick.heard
    kept = {ball.id: ball for ball in tick.previous.balls}
    kept.update({now.id: now for _, now in heard.changed})
    for ball in heard.deleted:
        del kept[ball.id]
    balls = tick.known = tuple(kept.values())
    tick.retracted = [*tick.retracted, *heard.deleted][-_RETRACTED:]
    touched = [*heard.deleted, *(ball for pair in heard.changed for ball in pair)]
    tick.peaks.update(
        {f"h{old.id}": 1 for old, now in heard.changed if old.credited > now.credited}
    )
    for bowler in sorted({ball.bowler_id for ball in touched}):
        _recount_wickets(tick, bowler, balls)
    for batter in sorted({ball.batter_id for ball in touched}):
        _recount_sixes(tick, batter, balls)


def _reposted(tick: Tick, ball: Ball) -> Ball | None:
    """Answer the deleted ball in whose place a new one stands, once."""
    for gone in tick.retracted:
        if (gone.inning, gone.over, gone.number) == (ball.inning, ball.over, ball.number):
            tick.retracted.remove(gone)
            return gone
    return None


def _boundary(tick: Tick, ball: Ball, reposted: Ball | None) -> None:
    if ball.six and not (reposted and reposted.six):
        text = f"SIX! {tick.batter(ball.batter_id)}"
        tick.find("six", str(ball.id), text, ball=ball, player_id=ball.batter_id)
    elif ball.four and not (reposted and reposted.four):
        text = f"Four, {tick.batter(ball.batter_id)}"
        tick.find("four", str(ball.id), text, ball=ball, player_id=ball.batter_id)


def _wickets_in_a_row(tick: Tick, ball: Ball, reposted: Ball | None) -> None:
    """A wide is a delivery too, and so is any ball that takes no wicket: they end the row."""
    name = f"h{ball.bowler_id}"
    if not ball.credited:
        tick.in_a_row.pop(name, None)
        return
    row = tick.in_a_row[name] = tick.in_a_row.get(name, 0) + 1
    if not (reposted and reposted.credited):
        _tell_row(tick, ball, row)


def _tell_row(tick: Tick, ball: Ball, row: int) -> None:
    who, key = tick.bowler(ball.bowler_id), f"{ball.bowler_id}:{ball.id}"
    if row == _ON_HATTRICK:
        text = f"{who} is on a hat-trick"
        tick.find("on_hattrick", key, text, ball=ball, player_id=ball.bowler_id, value=row)
    elif row >= _HATTRICK:
        text = f"HAT-TRICK! {who}" if row == _HATTRICK else f"{row} in {row}! {who}"
        tick.find("hattrick", key, text, ball=ball, player_id=ball.bowler_id, value=row)


def _sixes_in_a_row(tick: Tick, ball: Ball, reposted: Ball | None) -> None:
    name = f"x{ball.batter_id}"
    if not ball.six:
        tick.in_a_row.pop(name, None)
        return
    row = tick.in_a_row[name] = tick.in_a_row.get(name, 0) + 1
    if row >= tick.thresholds.sixes_in_a_row and not (reposted and reposted.six):
        text = f"{row} sixes in a row by {tick.batter(ball.batter_id)}"
        key, batter = f"{ball.batter_id}:{ball.id}", ball.batter_id
        tick.find("consecutive_sixes", key, text, ball=ball, player_id=batter, value=row)


def _maiden(tick: Tick, ball: Ball, reposted: Ball | None) -> None:
    """Six legal balls of one bowler without runs off the bat, wides or no-balls."""
    over: list[Ball] = []
    for each in _latest(tick, ball):
        if each.over != ball.over or each.inning != ball.inning:
            break
        over.append(each)
    clean = all(each.runs == 0 and each.legal and each.bowler_id == ball.bowler_id for each in over)
    if clean and len(over) == BALLS_PER_OVER and reposted is None:
        text = f"Maiden over by {tick.bowler(ball.bowler_id)}"
        key, bowler = f"{ball.inning}:{ball.over + 1}", ball.bowler_id
        tick.find("maiden", key, text, ball=ball, player_id=bowler, value=ball.over + 1)


def _fire(tick: Tick, ball: Ball, now: tuple[int, int]) -> None:
    (score, faced), rules, name = now, tick.thresholds, f"f{ball.batter_id}"
    burning = faced >= rules.fire_balls and score * 100 >= rules.fire_rate * faced
    if not burning and score >= rules.fire_runs:
        burning = _lately(tick, ball) >= rules.fire_runs
    if not burning:
        tick.in_a_row.pop(name, None)
    elif name not in tick.in_a_row:
        tick.in_a_row[name] = 1
        text = f"{tick.batter(ball.batter_id)} is on fire: {score} ({faced})"
        key, batter = f"{ball.batter_id}:{ball.id}", ball.batter_id
        tick.find("batsman_on_fire", key, text, ball=ball, player_id=batter, value=score)


def _lately(tick: Tick, ball: Ball) -> int:
    """The runs of a batter off the last balls faced, as far as the last thirty balls reach."""
    runs, left = 0, tick.thresholds.fire_window
    for each in _latest(tick, ball):
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
        for old, now in tick.heard.changed
        if now.credited and not old.credited and f"h{now.id}" not in tick.peaks
    }
    if became.intersection(ball.id for ball in row):
        _tell_row(tick, row[0], len(row))


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
