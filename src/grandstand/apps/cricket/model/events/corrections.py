"""Kept here: which balls are new, and which known ones the feed has changed or deleted since."""

from __future__ import annotations

from typing import Final, NamedTuple

from grandstand.apps.cricket.model.scores import Ball
from grandstand.apps.cricket.model.state import KEPT_BALLS, MatchState

# A wrong ball is put right within some ten seconds: eight balls are more than enough.
_CHECKED_BALLS: Final = 8


class Heard(NamedTuple):
    """What a tick hears of balls: new ones, corrections of known ones, and the latest thirty."""

    new: tuple[Ball, ...]
    latest: tuple[Ball, ...]
    changed: tuple[tuple[Ball, Ball], ...] = ()
    deleted: tuple[Ball, ...] = ()


def hear(previous: MatchState, balls: tuple[Ball, ...]) -> Heard:
    """Compare the feed's balls, in the order of their ids, with those known.

    No balls at all mean that the feed left them out. The work is bounded by how many are new.
    """
    known = previous.balls[-_CHECKED_BALLS:]
    if not balls:
        return Heard((), previous.balls)
    watermark = -1 if previous.ball_id is None else previous.ball_id
    start = len(balls)
    while start and balls[start - 1].id > watermark:
        start -= 1
    new, before = balls[start:], balls[max(0, start - len(known)) : start]
    whole = not known or len(balls) >= KEPT_BALLS or balls[0].id <= previous.balls[0].id
    if whole and before == known:
        return Heard(new, balls[-KEPT_BALLS:])
    return _corrected(previous.balls, known, balls, start)


def _corrected(
    kept: tuple[Ball, ...], known: tuple[Ball, ...], balls: tuple[Ball, ...], start: int
) -> Heard:
    present = {ball.id: ball for ball in balls[max(0, start - 2 * _CHECKED_BALLS) : start]}
    # A list that goes back to the first ball of the match leaves nothing out before it.
    whole = balls[0].inning == 1 and balls[0].position == 1
    first = 0 if whole else balls[0].id
    changed, deleted = [], []
    for ball in known:
        now = present.get(ball.id)
        if now is None and ball.id >= first:
            deleted.append(ball)
        elif now is not None and now != ball:
            changed.append((ball, now))
    earlier = tuple(ball for ball in kept if ball.id < first)
    latest = (*earlier, *balls[-KEPT_BALLS:])[-KEPT_BALLS:]
    return Heard(balls[start:], latest, tuple(changed), tuple(deleted))
