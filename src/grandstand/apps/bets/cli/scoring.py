"""Kept here: the commands that say how good models are: scoreboard, advice, audit."""

from __future__ import annotations

from typing import Annotated, Final

import typer
from rich.console import Console

from grandstand.apps.bets.cli.asking import (
    OWNER,
    AsJson,
    Days,
    EverySport,
    Kind,
    Opened,
    Sport,
    User,
    caller_of,
    sport_of,
    sports_of,
    with_bets,
)
from grandstand.apps.bets.cli.words import (
    NONE,
    advice,
    count,
    number,
    percent,
    signed,
    stamp,
    within,
)
from grandstand.apps.bets.service import Adjustment, Audit, Bets, Comparison, Performance
from grandstand.kit.terminal import Column, Line, console, echo_json, print_grid, say, title

Inverse = Annotated[bool, typer.Option("--inverse", help="Had one bet the opposite each time.")]
_SCORES: Final = (
    Column("model", whole=True),
    Column("bets", right=True),
    Column("right", right=True),
    Column("break-even", right=True, from_width=120),
    Column("return", right=True),
    Column("CLV", right=True, from_width=130),
    Column("Brier", right=True, from_width=90),
    Column("bets to know", right=True, from_width=120),
    Column("advice", from_width=70, whole=True),
)
_ADVICE: Final = (
    Column("model", whole=True),
    Column("advice", whole=True),
    Column("bets", right=True),
    Column("right", right=True),
    Column("inverse", right=True),
    Column("counts", right=True, from_width=70),
    Column("worked out (UTC)", from_width=90),
)
_BINS: Final = (
    Column("said", right=True),
    Column("predictions", right=True),
    Column("came true", right=True),
)


def add_scoring(group: typer.Typer, opened: Opened) -> None:
    """Add the commands that say how good models are."""
    _add_scoreboard(group, opened)
    _add_adjustments(group, opened)
    _add_audit(group, opened)


def _add_scoreboard(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def scoreboard(
        model: Annotated[str | None, typer.Argument(help="One model in full.")] = None,
        *,
        sport: Sport = None,
        days: Days = 90,
        kind: Kind = "game",
        inverse: Inverse = False,
        user: User = OWNER,
        as_json: AsJson = False,
    ) -> None:
        """Show how good every model is, with intervals, or one of them in full."""

        async def one(bets: Bets) -> Performance:
            name = sport_of(bets, sport)
            return await bets.performance(
                name, model or "", days=days, analysis_type=kind, inverse=inverse
            )

        async def all_of_them(bets: Bets) -> tuple[Comparison, ...]:
            name, who = sport_of(bets, sport), caller_of(user)
            return await bets.comparison(who, name, days=days, analysis_type=kind)

        if model is not None:
            found = with_bets(opened, one)
            if as_json:
                echo_json(found)
            else:
                _print_one(console(), found)
            return
        compared = with_bets(opened, all_of_them)
        if as_json:
            echo_json(compared)
            return
        _print_board(console(), compared, inverse=inverse)


def _print_board(to: Console, compared: tuple[Comparison, ...], *, inverse: bool) -> None:
    first = compared[0]
    title(to, f"{first.sport}, {count(first.original.days, 'day')}")
    print_grid(to, _SCORES, (_score_line(each, inverse=inverse) for each in compared))
    say(to, "In brackets is where it lies with 95 % certainty.", "dim")


def _score_line(one: Comparison, *, inverse: bool) -> Line:
    found = one.inverse if inverse else one.original
    return Line(
        (
            one.name,
            str(found.decided),
            within(found.accuracy),
            percent(found.break_even),
            within(found.roi, sign=True),
            signed(None if found.clv is None else found.clv.value),
            number(found.brier),
            NONE if found.bets_needed is None else f"{found.bets_needed:,}",
            advice(one.recommendation, one.evidence),
        ),
        "" if found.decided else "dim",
    )


def _print_one(to: Console, found: Performance) -> None:
    turned = " turned round" if found.inverse else ""
    title(to, f"{found.model}{turned}, {found.sport}, {count(found.days, 'day')}")
    print_performance(to, found)


def print_performance(to: Console, found: Performance) -> None:
    """Print how one model has done, with its calibration."""
    say(to, f"{count(found.predictions, 'prediction')}, {found.decided} decided")
    if not found.decided:
        return
    say(to, f"right        {within(found.accuracy)}, break-even {percent(found.break_even)}")
    say(to, f"return       {within(found.roi, sign=True)}")
    say(to, f"closing line {within(found.clv, sign=True)}")
    say(to, f"Brier        {number(found.brier)}, log loss {number(found.log_loss)}")
    if found.bets_needed is not None:
        say(to, f"{found.bets_needed:,} bets would tell this rate from break-even")
    to.print()
    lines = (
        Line((percent(each.mean_probability), str(each.count), percent(each.share_won)))
        for each in found.calibration
    )
    print_grid(to, _BINS, lines)


def _add_adjustments(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def adjustments(
        *,
        sport: Sport = None,
        kind: Kind = "game",
        anew: Annotated[bool, typer.Option("--anew", help="Work them out now.")] = False,
        as_json: AsJson = False,
    ) -> None:
        """Say which models to follow, bet against or leave, and on what evidence."""

        async def found(bets: Bets) -> tuple[Adjustment, ...]:
            name = sport_of(bets, sport)
            if anew:
                await bets.adjust(name)
            return await bets.adjustments(name, kind)

        advised = with_bets(opened, found)
        if as_json:
            echo_json(advised)
            return
        lines = (
            Line(
                (
                    each.model,
                    advice(each.recommendation, each.evidence),
                    str(each.sample_size),
                    percent(each.original_accuracy) if each.sample_size else NONE,
                    percent(each.inverse_accuracy) if each.sample_size else NONE,
                    f"× {each.confidence_multiplier:.2f}",
                    stamp(each.calculated_at),
                )
            )
            for each in advised
        )
        print_grid(console(), _ADVICE, lines)


def _add_audit(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def audit(
        *,
        sport: EverySport = None,
        days: Days = 7,
        most: Annotated[int, typer.Option("--most", min=1, help="How many at most.")] = 200,
        as_json: AsJson = False,
    ) -> None:
        """Run past predictions again with the data as it was, and name what leaked.

        Exits with 1 when a prediction differs or knew what it could not know.
        """

        async def found(bets: Bets) -> tuple[Audit, ...]:
            names = sports_of(bets, sport)
            return tuple([await bets.audit(each, days=days, most=most) for each in names])

        audits = with_bets(opened, found)
        if as_json:
            echo_json(audits)
        else:
            for each in audits:
                _print_audit(console(), each)
        if any(each.differing or each.leaks for each in audits):
            raise typer.Exit(1)


def _print_audit(to: Console, found: Audit) -> None:
    title(to, f"{found.sport}: {count(found.checked, 'prediction')} run again, {found.same} same")
    for each in found.differing:
        say(to, f"! differs: {each}", "yellow")
    for leak in found.leaks:
        told = f"{leak.model} on {leak.game_id} at {stamp(leak.made_at)} used {leak.row}"
        say(to, f"! {told}, known since {stamp(leak.known_at)}", "red")
