"""Commands for the scoreboard, user models, backtests, datasets and favorite teams."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from grandstand.apps.bets.cli import console as cli
from grandstand.apps.bets.services import Bets
from grandstand.apps.bets.services.alerts import Favorite
from grandstand.apps.bets.services.audit import AuditReport
from grandstand.apps.bets.services.backtests import BacktestReport, BacktestRequest
from grandstand.apps.bets.services.scoreboard import Adjustment, ModelComparison, ModelPerformance
from grandstand.apps.bets.services.user_models import DatasetView, UserModelRequest, UserModelView
from grandstand.core.errors import InvalidInput
from grandstand.kit.terminal import (
    ColumnSpec,
    TableRow,
    console,
    echo_json,
    print_line,
    print_results,
    print_table,
    print_title,
)

Inverse = Annotated[bool, typer.Option("--inverse", help="The inverse of every prediction.")]
_SCORES: Final = (
    ColumnSpec("model", whole=True),
    ColumnSpec("bets", right=True),
    ColumnSpec("accuracy", right=True),
    ColumnSpec("break-even", right=True, from_width=120),
    ColumnSpec("return", right=True),
    ColumnSpec("CLV", right=True, from_width=130),
    ColumnSpec("Brier", right=True, from_width=90),
    ColumnSpec("bets needed", right=True, from_width=120),
    ColumnSpec("advice", from_width=70, whole=True),
)
_ADVICE: Final = (
    ColumnSpec("model", whole=True),
    ColumnSpec("advice", whole=True),
    ColumnSpec("bets", right=True),
    ColumnSpec("accuracy", right=True),
    ColumnSpec("inverse", right=True),
    ColumnSpec("multiplier", right=True, from_width=70),
    ColumnSpec("calculated (UTC)", from_width=90),
)
_BINS: Final = (
    ColumnSpec("predicted", right=True),
    ColumnSpec("predictions", right=True),
    ColumnSpec("actual", right=True),
)


def add_scoreboard_commands(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    """Add the commands that show model performance."""
    _add_scoreboard(group, with_bets)
    _add_adjustments(group, with_bets)
    _add_audit(group, with_bets)


def _add_scoreboard(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command()
    def scoreboard(
        model: Annotated[str | None, typer.Argument(help="Show one model in detail.")] = None,
        *,
        sport: cli.Sport = None,
        days: cli.Days = 90,
        kind: cli.Kind = "game",
        inverse: Inverse = False,
        user: cli.User = cli.OWNER,
        as_json: cli.AsJson = False,
    ) -> None:
        """Show the performance of all models, or of one in detail."""

        async def load_model(bets: Bets) -> ModelPerformance:
            name = cli.resolve_sport(bets, sport)
            return await bets.scoreboard.performance(
                name, model or "", days=days, analysis_type=kind, inverse=inverse
            )

        async def load_all(bets: Bets) -> tuple[ModelComparison, ...]:
            name, who = cli.resolve_sport(bets, sport), cli.caller_for(user)
            return await bets.scoreboard.compare(who, name, days=days, analysis_type=kind)

        if model is not None:
            found = with_bets(load_model)
            echo_json(found) if as_json else _print_one(console(), found)
            return
        compared = with_bets(load_all)
        echo_json(compared) if as_json else _print_board(console(), compared, inverse=inverse)


def _print_board(to: Console, compared: tuple[ModelComparison, ...], *, inverse: bool) -> None:
    first = compared[0]
    print_title(to, f"{first.sport}, {cli.format_count(first.original.days, 'day')}")
    print_table(to, _SCORES, (_score_line(comparison, inverse=inverse) for comparison in compared))
    print_line(
        to,
        "In parentheses: 95% confidence intervals. CLV: value of the price against the closing "
        "line. Brier: mean squared error of the probabilities, lower is better.",
        "dim",
    )


def _score_line(one: ModelComparison, *, inverse: bool) -> TableRow:
    found = one.inverse if inverse else one.original
    return TableRow(
        (
            one.name,
            str(found.decided),
            cli.format_interval(found.accuracy),
            cli.format_percent(found.break_even),
            cli.format_interval(found.roi, sign=True),
            cli.format_signed_percent(None if found.clv is None else found.clv.value),
            cli.format_number(found.brier),
            cli.NONE if found.bets_needed is None else f"{found.bets_needed:,}",
            cli.format_advice(one.recommendation, one.evidence),
        ),
        "" if found.decided else "dim",
    )


def _print_one(to: Console, found: ModelPerformance) -> None:
    inverse = " (inverse)" if found.inverse else ""
    print_title(to, f"{found.model}{inverse}, {found.sport}, {cli.format_count(found.days, 'day')}")
    print_performance(to, found)


def print_performance(to: Console, performance: ModelPerformance) -> None:
    """Print the performance of a model with its calibration."""
    print_line(
        to,
        f"{cli.format_count(performance.predictions, 'prediction')}, {performance.decided} decided",
    )
    if not performance.decided:
        return
    print_line(
        to,
        f"accuracy     {cli.format_interval(performance.accuracy)}, "
        f"break-even {cli.format_percent(performance.break_even)}",
    )
    print_line(to, f"return       {cli.format_interval(performance.roi, sign=True)}")
    print_line(to, f"closing line {cli.format_interval(performance.clv, sign=True)}")
    print_line(
        to,
        f"Brier        {cli.format_number(performance.brier)}, "
        f"log loss {cli.format_number(performance.log_loss)}",
    )
    if performance.bets_needed is not None:
        print_line(to, f"{performance.bets_needed:,} bets needed to tell this rate from break-even")
    to.print()
    lines = (
        TableRow(
            (
                cli.format_percent(bin_.mean_probability),
                str(bin_.count),
                cli.format_percent(bin_.share_won),
            )
        )
        for bin_ in performance.calibration
    )
    print_table(to, _BINS, lines)


def _add_adjustments(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command()
    def adjustments(
        *,
        sport: cli.Sport = None,
        kind: cli.Kind = "game",
        recalculate: Annotated[
            bool, typer.Option("--recalculate", help="Calculate them now.")
        ] = False,
        as_json: cli.AsJson = False,
    ) -> None:
        """Show which models to follow, bet against or avoid."""

        async def load(bets: Bets) -> tuple[Adjustment, ...]:
            name = cli.resolve_sport(bets, sport)
            if recalculate:
                await bets.adjustments.calculate(name)
            return await bets.adjustments.list_adjustments(name, kind)

        advised = with_bets(load)
        if as_json:
            echo_json(advised)
            return
        lines = (
            TableRow(
                (
                    adjustment.model,
                    cli.format_advice(adjustment.recommendation, adjustment.evidence),
                    str(adjustment.sample_size),
                    cli.format_percent(adjustment.original_accuracy)
                    if adjustment.sample_size
                    else cli.NONE,
                    cli.format_percent(adjustment.inverse_accuracy)
                    if adjustment.sample_size
                    else cli.NONE,
                    f"× {adjustment.confidence_multiplier:.2f}",
                    cli.format_timestamp(adjustment.calculated_at),
                )
            )
            for adjustment in advised
        )
        print_table(console(), _ADVICE, lines)


def _add_audit(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command()
    def audit(
        *,
        sport: cli.EverySport = None,
        days: cli.Days = 7,
        limit: cli.Limit = 200,
        as_json: cli.AsJson = False,
    ) -> None:
        """Rerun past predictions with the data known at the time.

        Exits with 1 if a prediction differs or used data it could not know.
        """

        async def load(bets: Bets) -> tuple[AuditReport, ...]:
            names = cli.resolve_sports(bets, sport)
            return tuple([await bets.audit.run(name, days=days, limit=limit) for name in names])

        audits = with_bets(load)
        if as_json:
            echo_json(audits)
        else:
            for each in audits:
                _print_audit(console(), each)
        if any(audit.differing or audit.leaks for audit in audits):
            raise typer.Exit(1)


def _print_audit(to: Console, found: AuditReport) -> None:
    rerun = cli.format_count(found.checked, "prediction")
    print_title(to, f"{found.sport}: {rerun} rerun, {found.same} unchanged")
    for difference in found.differing:
        print_line(to, f"! differs: {difference}", "yellow")
    for leak in found.leaks:
        made_at, known_at = map(cli.format_timestamp, (leak.made_at, leak.known_at))
        text = f"{leak.model} on {leak.game_id} at {made_at} used {leak.row}"
        print_line(to, f"! {text}, known since {known_at}", "red")


ModelId = Annotated[str, typer.Argument(metavar="MODEL", help="A model id from `models list`.")]
Start = Annotated[str, typer.Argument(metavar="FROM", help="The first day, such as 2025-08-15.")]
End = Annotated[str, typer.Argument(metavar="TO", help="The last day.")]
Train = Annotated[int, typer.Option("--train", min=1, help="Training days per window.")]
Test = Annotated[int, typer.Option("--test", min=1, help="Test days per window.")]
Purge = Annotated[int, typer.Option("--purge", min=0, help="Days between training and test data.")]
Anchored = Annotated[
    bool, typer.Option("--anchored", help="Start every training window on the first day.")
]
Weight = Annotated[
    list[str], typer.Option("--weight", "-w", help="A weight such as recent_form=0.6. Repeatable.")
]
BetTypes = Annotated[
    list[str] | None, typer.Option("--bet", help="h2h, spreads or totals. Default: h2h.")
]
Data = Annotated[list[str] | None, typer.Option("--data", help="The weight of a dataset: ID=0.2.")]
Least = Annotated[str, typer.Option("--min-confidence", help="No picks below this probability.")]

_MODELS: Final = (
    ColumnSpec("id", whole=True),
    ColumnSpec("name"),
    ColumnSpec("sport", from_width=110),
    ColumnSpec("markets", from_width=100),
    ColumnSpec("weights", from_width=80),
    ColumnSpec("min. confidence", right=True, from_width=110),
    ColumnSpec("status"),
)
_WINDOWS: Final = (
    ColumnSpec("from"),
    ColumnSpec("to"),
    ColumnSpec("bets", right=True),
    ColumnSpec("return", right=True),
    ColumnSpec("Brier", right=True),
)


def add_model_commands(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    """Add the commands for user models and backtests."""
    models = typer.Typer(help="Your models.", no_args_is_help=True)
    _add_list(models, with_bets)
    _add_create(models, with_bets)
    _add_pause(models, with_bets)
    group.add_typer(models, name="models")
    _add_backtest(group, with_bets)


def _add_list(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command("list")
    def list_models(*, user: cli.User = cli.OWNER, as_json: cli.AsJson = False) -> None:
        """List your models."""
        found = with_bets(lambda bets: bets.user_models.list_models(cli.caller_for(user)))
        empty = "No models. Create one with `grandstand bets models create`."
        print_results(found, _MODELS, _model_line, as_json=as_json, empty=empty)


def _model_line(model: UserModelView) -> TableRow:
    weights = {**model.data_sources, **model.datasets}.items()
    text = ", ".join(f"{name} {cli.format_percent(float(weight), 0)}" for name, weight in weights)
    return TableRow(
        (
            model.model_id,
            model.name,
            model.sport,
            ", ".join(model.bet_types),
            text,
            cli.format_percent(float(model.min_confidence), 0),
            model.status,
        ),
        "dim" if model.status == "paused" else "",
    )


def _add_create(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command()
    def create(
        name: Annotated[str, typer.Argument(help="The name.")],
        *,
        weight: Weight,
        sport: cli.Sport = None,
        bet: BetTypes = None,
        data: Data = None,
        least: Least = "0.55",
        description: Annotated[str, typer.Option("--description")] = "",
        auto: Annotated[bool, typer.Option("--auto", help="Adjust the weights weekly.")] = False,
        user: cli.User = cli.OWNER,
        as_json: cli.AsJson = False,
    ) -> None:
        """Create a model from data sources whose weights add up to 1."""

        async def create_model(bets: Bets) -> UserModelView:
            draft = UserModelRequest(
                name=name,
                sport=cli.resolve_sport(bets, sport),
                bet_types=tuple(bet or ["h2h"]),
                data_sources=cli.parse_weights(weight),
                min_confidence=cli.parse_decimal(least),
                description=description,
                auto_adjust_weights=auto,
                datasets=cli.parse_weights(data or []),
            )
            return await bets.user_models.create(cli.caller_for(user), draft)

        found = with_bets(create_model)
        echo_json(found) if as_json else print_table(console(), _MODELS, [_model_line(found)])


def _add_pause(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    def set_paused(model_id: str, user: str, *, paused: bool) -> None:
        found = with_bets(
            lambda bets: bets.user_models.set_paused(cli.caller_for(user), model_id, paused=paused)
        )
        typer.echo(f"{found.name} is {found.status}")

    @group.command()
    def pause(model_id: ModelId, *, user: cli.User = cli.OWNER) -> None:
        """Pause a model."""
        set_paused(model_id, user, paused=True)

    @group.command()
    def resume(model_id: ModelId, *, user: cli.User = cli.OWNER) -> None:
        """Resume a paused model."""
        set_paused(model_id, user, paused=False)

    @group.command()
    def remove(model_id: ModelId, *, yes: cli.Yes = False, user: cli.User = cli.OWNER) -> None:
        """Delete a model. Its predictions stay on the scoreboard."""

        async def remove_model(bets: Bets) -> str:
            who = cli.caller_for(user)
            model = await bets.user_models.get(who, model_id)
            if not yes:
                typer.confirm(f"Remove {model.name}?", abort=True, err=True)
            await bets.user_models.delete(who, model_id)
            return model.name

        typer.echo(f"{with_bets(remove_model)} is removed")


def _add_backtest(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command()
    def backtest(
        model_id: ModelId,
        start: Start,
        end: End,
        *,
        train: Train = 60,
        test: Test = 14,
        purge: Purge = 1,
        anchored: Anchored = False,
        user: cli.User = cli.OWNER,
        as_json: cli.AsJson = False,
    ) -> None:
        """Backtest one of your models over stored seasons. Every run counts as a trial."""
        request = _backtest_request(start, end, (train, test, purge), anchored=anchored)

        async def run_test(bets: Bets) -> BacktestReport:
            who = cli.caller_for(user)
            model = await bets.user_models.get(who, model_id)
            with cli.progress_bar(model.name) as progress:
                return await bets.backtests.run(who, model_id, request, progress)

        found = with_bets(run_test)
        echo_json(found) if as_json else _print_backtest(console(), found)

    @group.command("backtest-builtin")
    def backtest_builtin(
        model: Annotated[str, typer.Argument(help="A built-in model, such as elo.")],
        start: Start,
        end: End,
        *,
        sport: cli.Sport = None,
        train: Train = 60,
        test: Test = 14,
        purge: Purge = 1,
        anchored: Anchored = False,
        user: cli.User = cli.OWNER,
        as_json: cli.AsJson = False,
    ) -> None:
        """Backtest a built-in model over stored seasons. Every run counts as a trial."""
        request = _backtest_request(start, end, (train, test, purge), anchored=anchored)

        async def run_test(bets: Bets) -> BacktestReport:
            name = cli.resolve_sport(bets, sport)
            with cli.progress_bar(f"{model}, {name}") as progress:
                return await bets.backtests.run_builtin(
                    cli.caller_for(user), model, name, request, progress
                )

        found = with_bets(run_test)
        echo_json(found) if as_json else _print_backtest(console(), found)


def _backtest_request(
    start: str, end: str, days: tuple[int, int, int], *, anchored: bool
) -> BacktestRequest:
    first, last = cli.parse_date(start), cli.parse_date(end)
    if first.year < 1900:
        raise InvalidInput(f"{start} is before 1900.")
    return BacktestRequest(first, last, *days, anchored)


def _print_backtest(to: Console, found: BacktestReport) -> None:
    request = found.request
    about = f"{found.name}, {found.sport}, {request.start} to {request.end}"
    print_title(to, f"{about}: {cli.format_count(found.games, 'game')}")
    print_performance(to, found.performance)
    to.print()
    lines = (
        TableRow(
            (
                f"{item.start}",
                f"{item.end}",
                str(item.predictions),
                cli.format_signed_percent(item.roi),
                cli.format_number(item.brier),
            ),
            "" if item.predictions else "dim",
        )
        for item in found.windows
    )
    print_table(to, _WINDOWS, lines)
    deflated = (
        cli.NONE if found.deflated_sharpe is None else cli.format_percent(found.deflated_sharpe)
    )
    trials = cli.format_count(found.trials, "trial")
    print_line(to, f"Probability of skill after {trials} in this sport: {deflated}.", "dim")


TeamName = Annotated[str, typer.Argument(metavar="TEAM", help="The name of the team, in quotes.")]
_TABLES: Final = (
    ColumnSpec("id", whole=True),
    ColumnSpec("name"),
    ColumnSpec("sport", from_width=100),
    ColumnSpec("about"),
    ColumnSpec("rows", right=True),
    ColumnSpec("columns", from_width=80),
    ColumnSpec("uploaded (UTC)", from_width=120, whole=True),
)
_TEAMS: Final = (ColumnSpec("sport"), ColumnSpec("team"), ColumnSpec("since (UTC)", from_width=80))


def add_dataset_commands(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    """Add the commands for datasets and favorite teams."""
    data = typer.Typer(help="Your datasets.", no_args_is_help=True)
    _add_tables(data, with_bets)
    group.add_typer(data, name="data")
    teams = typer.Typer(help="Your favorite teams.", no_args_is_help=True)
    _add_teams(teams, with_bets)
    group.add_typer(teams, name="favorites")


def _add_tables(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command("list")
    def list_tables(*, user: cli.User = cli.OWNER, as_json: cli.AsJson = False) -> None:
        """List your datasets."""
        found = with_bets(lambda bets: bets.datasets.list_datasets(cli.caller_for(user)))
        empty = "No datasets. Upload one with `grandstand bets data add`."
        print_results(found, _TABLES, _table_line, as_json=as_json, empty=empty)

    @group.command("add")
    def add_table(
        file: Annotated[
            Path, typer.Argument(help="A CSV or JSON file: a team or player, and numbers.")
        ],
        *,
        name: Annotated[
            str | None, typer.Option("--name", help="The name. Default: the file name.")
        ] = None,
        sport: cli.Sport = None,
        user: cli.User = cli.OWNER,
        as_json: cli.AsJson = False,
    ) -> None:
        """Upload a dataset for your models."""
        content = cli.read_bytes(file)
        who, title = cli.caller_for(user), file.stem if name is None else name
        found = with_bets(
            lambda bets: bets.datasets.add(who, title, cli.resolve_sport(bets, sport), content)
        )
        echo_json(found) if as_json else print_table(console(), _TABLES, [_table_line(found)])

    @group.command("remove")
    def remove_table(
        dataset_id: Annotated[
            str, typer.Argument(metavar="DATASET", help="A dataset id from `list`.")
        ],
        *,
        yes: cli.Yes = False,
        user: cli.User = cli.OWNER,
    ) -> None:
        """Remove a dataset. Models that use it continue without it."""
        if not yes:
            typer.confirm(f"Remove {dataset_id}?", abort=True, err=True)
        with_bets(lambda bets: bets.datasets.remove(cli.caller_for(user), dataset_id))
        typer.echo("Removed.")


def _table_line(table: DatasetView) -> TableRow:
    return TableRow(
        (
            table.dataset_id,
            table.name,
            table.sport,
            f"{table.subject}s",
            f"{table.rows:,}",
            ", ".join(table.columns),
            cli.format_timestamp(table.created_at),
        )
    )


def _add_teams(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command("list")
    def list_teams(*, user: cli.User = cli.OWNER, as_json: cli.AsJson = False) -> None:
        """List your favorite teams. You are notified of their games."""
        found = with_bets(lambda bets: bets.favorites.list_teams(cli.caller_for(user)))
        empty = "No favorite teams. Add one with `grandstand bets favorites add`."
        print_results(found, _TEAMS, _team_line, as_json=as_json, empty=empty)

    @group.command("add")
    def add_team(
        team: TeamName,
        *,
        sport: cli.Sport = None,
        user: cli.User = cli.OWNER,
        as_json: cli.AsJson = False,
    ) -> None:
        """Add a favorite team."""
        found = with_bets(
            lambda bets: bets.favorites.add(
                cli.caller_for(user), cli.resolve_sport(bets, sport), team
            )
        )
        echo_json(found) if as_json else print_table(console(), _TEAMS, [_team_line(found)])

    @group.command("remove")
    def remove_team(team: TeamName, *, sport: cli.Sport = None, user: cli.User = cli.OWNER) -> None:
        """Remove a favorite team."""
        removed = with_bets(
            lambda bets: bets.favorites.remove(
                cli.caller_for(user), cli.resolve_sport(bets, sport), team
            )
        )
        typer.echo("Removed." if removed else "It was not a favorite team.")


def _team_line(one: Favorite) -> TableRow:
    return TableRow((one.sport, one.team, cli.format_timestamp(one.since)))
