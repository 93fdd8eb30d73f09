"""Kept here: a match's charts: the worm, and how the rates went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from grandstand.apps.cricket.model import Ball
from grandstand.apps.cricket.model import Fixture as Scores
from grandstand.apps.cricket.model.targets import balls_allowed, target_of
from grandstand.apps.cricket.pages.words import side_code
from grandstand.kit.charts import Axis, Chart, Plot

BALLS_PER_OVER: Final = 6
_TONES: Final = ("5", "1", "2", "3")


@dataclass(frozen=True, slots=True)
class Over:
    """One over of an innings: what it brought, and how it stood then."""

    inning: int
    number: int
    balls: tuple[Ball, ...]
    runs: int
    wickets: int
    total: int
    down: int
    legal: int


def overs_by_ball(balls: Sequence[Ball]) -> tuple[Over, ...]:
    """Answer the overs of a match from its balls, in order."""
    grouped: dict[tuple[int, int], list[Ball]] = {}
    for ball in balls:
        grouped.setdefault((ball.inning, ball.over), []).append(ball)
    made: list[Over] = []
    total, down, legal, inning_before = 0, 0, 0, 0
    for (inning, number), held in sorted(grouped.items()):
        if inning != inning_before:
            total, down, legal, inning_before = 0, 0, 0, inning
        runs = sum(ball.runs + ball.extras for ball in held)
        fallen = sum(ball.wicket for ball in held)
        total, down = total + runs, down + fallen
        legal += sum(ball.legal for ball in held)
        made.append(Over(inning, number, tuple(held), runs, fallen, total, down, legal))
    return tuple(made)


def inning_names(scores: Scores) -> dict[int, str]:
    """Answer what each innings is called: the team's code, and which of its innings it is."""
    names: dict[int, str] = {}
    for score in scores.innings:
        side = scores.side(score.team_id)
        code = side_code(side) if side else f"Innings {score.inning}"
        again = sum(1 for name in names.values() if name.split(" ")[0] == code)
        names[score.inning] = f"{code} ({again + 1})" if again else code
    return names


def worm_chart(scores: Scores, overs: Sequence[Over]) -> Chart:
    """Answer the runs of each innings as they grew over by over, wickets marked."""
    names = inning_names(scores)
    plots: list[Plot] = []
    for at, inning in enumerate(sorted({over.inning for over in overs})):
        held = [over for over in overs if over.inning == inning]
        name, tone = names.get(inning, f"Innings {inning}"), _TONES[at % len(_TONES)]
        rows = ((0.0, 0), *((_played(over), over.total) for over in held))
        plots.append(Plot(name, "line", rows, tone))
        fallen = tuple((_played(over), over.total) for over in held if over.wickets)
        if fallen:
            plots.append(Plot(f"{name} wickets", "scatter", fallen, tone))
    return Chart(
        title="Worm",
        note="Runs after every over; a dot is an over with a wicket.",
        x=Axis("Overs", digits=0),
        y=Axis("Runs", digits=0),
        plots=tuple(plots),
        height=260,
    )


def rate_chart(scores: Scores, overs: Sequence[Over]) -> Chart:
    """Answer the run rate of each innings over by over, and what a chase needed."""
    names = inning_names(scores)
    plots: list[Plot] = []
    for at, inning in enumerate(sorted({over.inning for over in overs})):
        held = [over for over in overs if over.inning == inning and over.legal]
        name = names.get(inning, f"Innings {inning}")
        rows = tuple(
            (_played(over), round(over.total * BALLS_PER_OVER / over.legal, 2)) for over in held
        )
        plots.append(Plot(name, "line", rows, _TONES[at % len(_TONES)]))
        needed = _needed(scores, inning, held)
        if needed:
            plots.append(Plot(f"{name} needed", "step", needed, "quiet"))
    return Chart(
        title="Run rate",
        note="Runs an over since the innings began, and what a chase needed.",
        x=Axis("Overs", digits=0),
        y=Axis("Runs an over", digits=2),
        plots=tuple(plots),
        height=260,
    )


def _played(over: Over) -> float:
    whole, rest = divmod(over.legal, BALLS_PER_OVER)
    return round(whole + rest / BALLS_PER_OVER, 3)


def _needed(scores: Scores, inning: int, overs: Sequence[Over]) -> tuple[tuple[float, float], ...]:
    """What was needed an over after each over; nothing where no chase has limited overs."""
    target, allowed = target_of(scores, inning), balls_allowed(scores, inning)
    if target is None or allowed is None:
        return ()
    rows = []
    for over in overs:
        left, wanted = allowed - over.legal, max(0, target - over.total)
        if left >= BALLS_PER_OVER and wanted:
            rows.append((_played(over), round(wanted * BALLS_PER_OVER / left, 2)))
    return tuple(rows)
