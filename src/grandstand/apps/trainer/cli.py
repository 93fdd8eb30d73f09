"""Commands of the trainer: scenarios, practice, evaluation, profiles and exports."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

import typer

from grandstand.apps.trainer.domain.evaluation import (
    DIMENSIONS_BY_NAME,
    MAX_SCORE,
    Evaluation,
    EvaluationDetails,
)
from grandstand.apps.trainer.services import Trainer
from grandstand.apps.trainer.services.profiles import ProfileRecord, RebuildResult
from grandstand.apps.trainer.services.scenarios import (
    ScenarioRecord,
    ScenarioWithProgress,
    validate_file,
)
from grandstand.apps.trainer.services.validation import AnswerInput, AttemptInput
from grandstand.core.errors import GrandstandError, InvalidInput
from grandstand.core.formatting import EMPTY
from grandstand.kit.auth.caller import LOCAL_OWNER
from grandstand.kit.auth.personal_data import to_jsonable
from grandstand.kit.terminal import ColumnSpec, TableRow, console, print_table

T = TypeVar("T")
OpenTrainer: TypeAlias = Callable[[], AbstractAsyncContextManager[Trainer]]

_MAX_FILE_BYTES: Final = 1_000_000
_SCENARIO_COLUMNS: Final = (
    ColumnSpec("scenario", whole=True),
    ColumnSpec("title"),
    ColumnSpec("difficulty"),
    ColumnSpec("minutes", right=True, from_width=80),
    ColumnSpec("state", from_width=70),
    ColumnSpec("best", right=True),
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
User = Annotated[str, typer.Option("--user", help="User id.")]
File = Annotated[Path, typer.Argument(help="Scenario file in YAML.", show_default=False)]


def commands(open_trainer: OpenTrainer) -> typer.Typer:
    """Return the trainer's commands."""
    group = typer.Typer(help="Practice reasoning and track your progress.", no_args_is_help=True)
    group.add_typer(_scenario_commands(open_trainer), name="scenarios")
    group.add_typer(_profile_commands(open_trainer), name="profile")
    _add_practice(group, open_trainer)
    _add_evaluate(group, open_trainer)
    _add_export(group, open_trainer)
    return group


def _scenario_commands(open_trainer: OpenTrainer) -> typer.Typer:
    group = typer.Typer(help="List, load and validate scenarios.", no_args_is_help=True)

    @group.command("list")
    def list_scenarios(*, user: User = LOCAL_OWNER.user_id, as_json: AsJson = False) -> None:
        """List the active scenarios and a user's progress."""
        scenarios = _run(open_trainer, lambda trainer: trainer.scenarios.list(user))
        _output(scenarios, _print_scenarios, as_json=as_json)

    @group.command()
    def load(
        file: Annotated[
            Path | None, typer.Argument(help="YAML file; without one, the built-in scenarios.")
        ] = None,
        *,
        as_json: AsJson = False,
    ) -> None:
        """Load scenarios; unchanged ones are not written again."""
        result = _run(open_trainer, lambda trainer: trainer.scenarios.load_file(file))
        text = f"{len(result.written)} scenarios written, {len(result.unchanged)} unchanged"
        _output(result, lambda _: typer.echo(text), as_json=as_json)

    @group.command()
    def validate(file: File, *, as_json: AsJson = False) -> None:
        """Validate a scenario file; every problem is listed with its line and field."""
        scenario_ids = validate_file(file)
        text = f"{file} is valid: {', '.join(scenario_ids)}"
        _output(scenario_ids, lambda _: typer.echo(text), as_json=as_json)

    return group


def _profile_commands(open_trainer: OpenTrainer) -> typer.Typer:
    group = typer.Typer(help="Show and rebuild profiles.", no_args_is_help=True)

    @group.command()
    def show(*, user: User = LOCAL_OWNER.user_id, as_json: AsJson = False) -> None:
        """Show a user's latest profile."""
        profile = _run(open_trainer, lambda trainer: trainer.profiles.latest(user))
        _output(profile, _print_profile, as_json=as_json)

    @group.command()
    def rebuild(
        user: Annotated[str | None, typer.Argument(help="User id.")] = None,
        *,
        everybody: Annotated[bool, typer.Option("--all", help="Rebuild all users.")] = False,
        as_json: AsJson = False,
    ) -> None:
        """Recompute totals and profiles from the attempts, and print the differences."""
        if (user is None) == (not everybody):
            raise InvalidInput("Name a user or use --all.")

        async def run(trainer: Trainer) -> tuple[RebuildResult, ...]:
            if user is None:
                return await trainer.profiles.rebuild_all()
            return (await trainer.profiles.rebuild(user),)

        _output(_run(open_trainer, run), _print_differences, as_json=as_json)

    return group


def _add_practice(group: typer.Typer, open_trainer: OpenTrainer) -> None:
    @group.command()
    def practice(
        scenario_id: Annotated[
            str | None,
            typer.Argument(metavar="[SCENARIO]", help="Scenario id; by default the suggested one."),
        ] = None,
        *,
        user: User = LOCAL_OWNER.user_id,
    ) -> None:
        """Work through a scenario in the terminal and see the evaluation."""

        async def run(trainer: Trainer) -> None:
            scenario = await _select(trainer, user, scenario_id)
            draft = await trainer.attempts.start(user, scenario.scenario_id)
            typer.secho(f"{scenario.title} ({scenario.difficulty})", bold=True)
            typer.echo(f"\n{scenario.description}")
            answers: list[AnswerInput] = []
            for number, question in enumerate(scenario.questions, start=1):
                typer.secho(f"\n{number}. {question.text}", bold=True)
                target = question.target_word_count
                typer.echo(f"About {target} words. End with a line that contains only a period.")
                text = _read_answer()
                percent = None
                if question.forecast is not None:
                    prompt = f"Probability in percent: {question.forecast.event}"
                    percent = typer.prompt(prompt, type=int)
                answers.append(AnswerInput(question.question_id, text, percent))
                await trainer.attempts.save(user, draft.attempt_id, AttemptInput(tuple(answers)))
            attempt = await trainer.attempts.submit(user, draft.attempt_id)
            if attempt.evaluation is None:
                typer.echo(f"\nAttempt {attempt.attempt_id} is submitted. Scores will follow.")
            else:
                _print_evaluation(attempt.evaluation, attempt.evaluation_details)

        _run(open_trainer, run)


def _add_evaluate(group: typer.Typer, open_trainer: OpenTrainer) -> None:
    @group.command()
    def evaluate(
        file: Annotated[
            Path | None,
            typer.Argument(help='JSON: {"scenarioId": …, "answers": [{"questionId", "answer"}]}.'),
        ] = None,
        *,
        pending: Annotated[
            bool, typer.Option("--pending", help="Evaluate all pending attempts.")
        ] = False,
        as_json: AsJson = False,
    ) -> None:
        """Evaluate the answers in a file without storing them, or all pending attempts."""
        if (file is None) == (not pending):
            raise InvalidInput("Name a file of answers or use --pending.")
        if file is None:
            lines = _run(open_trainer, _evaluate_pending)
            text = "\n".join(lines) or "Nothing is pending."
            _output(lines, lambda _: typer.echo(text), as_json=as_json)
            return
        scenario_id, attempt = _read_file(file)
        judgment = _run(
            open_trainer,
            lambda trainer: trainer.evaluations.evaluate_answers(scenario_id, attempt),
        )
        show = _print_evaluation
        _output(judgment, lambda _: show(judgment.evaluation, judgment.details), as_json=as_json)


def _add_export(group: typer.Typer, open_trainer: OpenTrainer) -> None:
    @group.command()
    def export(
        export_format: Annotated[
            Literal["json", "csv"], typer.Option("--format", help="Output format.")
        ] = "json",
        to: Annotated[Path | None, typer.Option(help="Output file; default: stdout.")] = None,
        *,
        user: User = LOCAL_OWNER.user_id,
        as_json: AsJson = False,
    ) -> None:
        """Export a user's whole history."""

        async def run(trainer: Trainer) -> bytes:
            is_csv = export_format == "csv" and not as_json
            exports = trainer.exports
            parts = exports.export_csv(user) if is_csv else exports.export_json(user)
            return b"".join([part async for part in parts])

        content = _run(open_trainer, run)
        if to is None:
            typer.echo(content.decode(), nl=False)
        else:
            to.write_bytes(content)
            typer.echo(f"Wrote {to}", err=True)


def _run(open_trainer: OpenTrainer, action: Callable[[Trainer], Awaitable[T]]) -> T:
    async def run() -> T:
        async with open_trainer() as trainer:
            return await action(trainer)

    return asyncio.run(run())


async def _select(trainer: Trainer, user_id: str, scenario_id: str | None) -> ScenarioRecord:
    if scenario_id is not None:
        return (await trainer.scenarios.get(user_id, scenario_id)).scenario
    suggestion = await trainer.scenarios.suggest(user_id)
    if suggestion is None:
        raise InvalidInput("No scenarios are loaded. Run `grandstand trainer scenarios load`.")
    return suggestion.scenario


async def _evaluate_pending(trainer: Trainer) -> list[str]:
    lines = []
    async for attempt in trainer.evaluations.pending():
        try:
            evaluated = await trainer.evaluations.evaluate(attempt.attempt_id)
        except GrandstandError as error:
            lines.append(f"{attempt.attempt_id}: {error}")
            continue
        evaluation = None if evaluated is None else evaluated.evaluation
        score = None if evaluation is None else evaluation.overall_score
        lines.append(f"{attempt.attempt_id}: {score} of 100")
    return lines


def _read_answer() -> str:
    lines = []
    for line in sys.stdin:
        if line.rstrip("\r\n") == ".":
            break
        lines.append(line)
    return "".join(lines).strip()


def _read_file(file: Path) -> tuple[str, AttemptInput]:
    try:
        with file.open("rb") as opened:
            content = json.loads(opened.read(_MAX_FILE_BYTES))
        answers = tuple(
            AnswerInput(
                str(answer["questionId"]),
                str(answer["answer"]),
                _percent(answer.get("probabilityPercent")),
            )
            for answer in content["answers"]
        )
        return str(content["scenarioId"]), AttemptInput(answers)
    except OSError as error:
        raise InvalidInput(f"Cannot read {file}: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f'{file} must be JSON: {{"scenarioId": "…", "answers": '
            f'[{{"questionId": "…", "answer": "…"}}]}}. Problem: {error}'
        ) from error


def _percent(value: object) -> int | None:
    if value is None or type(value) is int:
        return value
    raise TypeError("probabilityPercent is not an integer")


def _output(value: T, show: Callable[[T], object], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(to_jsonable(value), indent=2, ensure_ascii=False))
    else:
        show(value)


def _print_scenarios(scenarios: tuple[ScenarioWithProgress, ...]) -> None:
    rows = []
    for item in scenarios:
        scenario, progress = item.scenario, item.progress
        best = EMPTY if progress.best_score is None else str(progress.best_score)
        cells = (scenario.scenario_id, scenario.title, scenario.difficulty)
        rows.append(TableRow((*cells, str(scenario.estimated_minutes), progress.state, best)))
    print_table(console(), _SCENARIO_COLUMNS, rows)


def _print_evaluation(evaluation: Evaluation, details: EvaluationDetails | None) -> None:
    typer.secho(f"\n{evaluation.overall_score} of 100, by {evaluation.model_id}", bold=True)
    for dimension in evaluation.dimensions:
        title = DIMENSIONS_BY_NAME[dimension.name].title
        typer.echo(f"{title}: {dimension.score} of {MAX_SCORE}")
        for reason in dimension.rationale:
            typer.echo(f"    {reason}")
    typer.echo(f"\n{evaluation.feedback}")
    if details is not None and details.note:
        typer.echo(f"\n{details.note}")


def _print_differences(results: tuple[RebuildResult, ...]) -> None:
    for result in results:
        differences = "; ".join(result.differences) or "no differences"
        typer.echo(f"{result.user_id}: {_attempts(result.attempt_count)}, {differences}")


def _print_profile(profile: ProfileRecord | None) -> None:
    if profile is None:
        typer.echo("No profile yet. Run `grandstand trainer practice` first.")
        return
    attempts = _attempts(profile.attempt_count)
    typer.secho(f"{profile.overall_average} of 100 over {attempts}", bold=True)
    for each in profile.dimensions:
        title, average = DIMENSIONS_BY_NAME[each.name].title, each.moving_average
        typer.echo(f"{title}: {average} ± {each.standard_deviation}, {each.trend}")
    for recommendation in profile.recommendations:
        typer.echo(f"→ {recommendation}")


def _attempts(count: int) -> str:
    return "1 attempt" if count == 1 else f"{count} attempts"
