"""Kept here: `grandstand trainer …`: scenarios, practising at a terminal, judging, profiles."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import typer

from grandstand.apps.trainer.model import Evaluation, EvaluationDetails
from grandstand.apps.trainer.model.rubric import BY_NAME, MOST
from grandstand.apps.trainer.model.scenarios import ScenarioDraft
from grandstand.apps.trainer.service import (
    Given,
    GivenAnswer,
    Offered,
    Profile,
    Rebuilt,
    Scenario,
    Trainer,
)
from grandstand.base.errors import GrandstandError, InvalidInput
from grandstand.kit.plain import plain
from grandstand.kit.terminal import Column, Line, console, print_grid
from grandstand.kit.who.caller import LOCAL_OWNER, Caller

T = TypeVar("T")
Opened = Callable[[], AbstractAsyncContextManager[Trainer]]

_LARGEST_BYTES: Final = 1_000_000
_END: Final = "."
_OFFERS: Final = (
    Column("scenario", whole=True),
    Column("title"),
    Column("difficulty"),
    Column("minutes", right=True, from_width=80),
    Column("state", from_width=70),
    Column("best", right=True),
)

AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]
User = Annotated[str, typer.Option("--user", help="Whose: a person's id.")]
File = Annotated[Path, typer.Argument(help="A file of scenarios, in YAML.", show_default=False)]


@dataclass(frozen=True, slots=True)
class Files:
    """How scenarios are read: our own, and those of a file."""

    library: Callable[[], Sequence[ScenarioDraft]]
    read: Callable[[Path], Sequence[ScenarioDraft]]


def commands(opened: Opened, files: Files) -> typer.Typer:
    """Make the trainer's commands; `opened` opens the service for the length of a block."""
    group = typer.Typer(help="Practise judgement, and see it grow.", no_args_is_help=True)
    group.add_typer(_scenario_commands(opened, files), name="scenarios")
    group.add_typer(_profile_commands(opened), name="profile")
    _add_practise(group, opened)
    _add_evaluate(group, opened)
    _add_export(group, opened)
    return group


def _scenario_commands(opened: Opened, files: Files) -> typer.Typer:
    group = typer.Typer(help="The scenarios on offer.", no_args_is_help=True)

    @group.command("list")
    def list_scenarios(*, user: User = LOCAL_OWNER.user_id, as_json: AsJson = False) -> None:
        """List what is on offer, and how far one has come."""
        found = _with(opened, lambda trainer: trainer.scenarios(_caller(user)))
        if as_json:
            _echo_json(found)
            return
        _print_offers(found)

    @group.command()
    def load(
        file: Annotated[
            Path | None, typer.Argument(help="A YAML file; our own scenarios without one.")
        ] = None,
        *,
        as_json: AsJson = False,
    ) -> None:
        """Put scenarios on offer; what is there already is not written again."""
        drafts = files.library() if file is None else files.read(file)
        loaded = _with(opened, lambda trainer: trainer.load_scenarios(drafts))
        if as_json:
            _echo_json(loaded)
        else:
            written, unchanged = len(loaded.written), len(loaded.unchanged)
            typer.echo(f"{written} scenarios written, {unchanged} were there already")

    @group.command()
    def validate(file: File, *, as_json: AsJson = False) -> None:
        """Check a file of scenarios; every fault is told with its line and field."""
        drafts = files.read(file)
        if as_json:
            _echo_json([each.scenario_id for each in drafts])
        else:
            named = ", ".join(each.scenario_id for each in drafts)
            typer.echo(f"{file} is good: {named}")

    return group


def _profile_commands(opened: Opened) -> typer.Typer:
    group = typer.Typer(help="What attempts say of a person.", no_args_is_help=True)

    @group.command()
    def show(*, user: User = LOCAL_OWNER.user_id, as_json: AsJson = False) -> None:
        """Show a person's latest profile."""
        found = _with(opened, lambda trainer: trainer.profile(_caller(user)))
        if as_json:
            _echo_json(found)
        elif found is None:
            typer.echo("Nothing was judged yet: `grandstand trainer practise` is the way to begin.")
        else:
            _print_profile(found)

    @group.command()
    def rebuild(
        user: Annotated[str | None, typer.Argument(help="A person's id.")] = None,
        *,
        everybody: Annotated[bool, typer.Option("--all", help="Everybody.")] = False,
        as_json: AsJson = False,
    ) -> None:
        """Count attempts anew, mend what differs, and say what that was."""
        if (user is None) == (not everybody):
            raise InvalidInput("Name a person, or say --all")

        async def rebuilt(trainer: Trainer) -> tuple[Rebuilt, ...]:
            return (await trainer.rebuild(user),) if user else await trainer.rebuild_all()

        found = _with(opened, rebuilt)
        if as_json:
            _echo_json(found)
            return
        for each in found:
            told = "; ".join(each.differences) or "all agreed"
            typer.echo(f"{each.user_id}: {_attempts(each.attempt_count)}, {told}")

    return group


def _add_practise(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def practise(
        scenario: Annotated[
            str | None, typer.Argument(help="A scenario's id; the one suggested without.")
        ] = None,
        *,
        user: User = LOCAL_OWNER.user_id,
    ) -> None:
        """Answer a scenario's questions here, and see what the judge says."""

        async def practised(trainer: Trainer) -> None:
            caller = _caller(user)
            chosen = await _chosen(trainer, caller, scenario)
            draft = await trainer.begin(caller, chosen.scenario_id)
            _print_scenario(chosen)
            answers: list[GivenAnswer] = []
            for number, question in enumerate(chosen.questions, start=1):
                typer.secho(f"\n{number}. {question.text}", bold=True)
                typer.echo(f"About {question.target_word_count} words; end with a line of one dot.")
                text = _lines()
                percent = None
                if question.forecast is not None:
                    percent = typer.prompt(
                        f"How likely, in percent: {question.forecast.event}", type=int
                    )
                answers.append(GivenAnswer(question.question_id, text, percent))
                await trainer.save(caller, draft.attempt_id, Given(tuple(answers)))
            done = await trainer.submit(caller, draft.attempt_id)
            if done.evaluation is None:
                typer.echo(f"\nAttempt {done.attempt_id} is kept; its scores come later.")
            else:
                _print_evaluation(done.evaluation, done.evaluation_details)

        _with(opened, practised)


def _add_evaluate(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def evaluate(
        file: Annotated[
            Path | None,
            typer.Argument(help='JSON: {"scenarioId": …, "answers": [{"questionId", "answer"}]}.'),
        ] = None,
        *,
        waiting: Annotated[
            bool, typer.Option("--waiting", help="Judge every attempt that still waits.")
        ] = False,
        as_json: AsJson = False,
    ) -> None:
        """Judge the answers of a file without keeping them, or what waits to be judged."""
        if (file is None) == (not waiting):
            raise InvalidInput("Name a file of answers, or say --waiting")
        if file is None:
            told = _with(opened, _judge_waiting)
            _echo_json(told) if as_json else typer.echo("\n".join(told) or "Nothing waits.")
            return
        scenario_id, given = _read_answers(file)
        found = _with(opened, lambda trainer: trainer.judge(scenario_id, given))
        if as_json:
            _echo_json(found)
        else:
            _print_evaluation(found.evaluation, found.details)


def _add_export(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def export(
        form: Annotated[Literal["json", "csv"], typer.Option(help="The form.")] = "json",
        to: Annotated[Path | None, typer.Option(help="A file; the terminal without it.")] = None,
        *,
        user: User = LOCAL_OWNER.user_id,
        as_json: AsJson = False,
    ) -> None:
        """Write out a person's whole history."""

        async def pieces(trainer: Trainer) -> bytes:
            caller = _caller(user)
            csv = form == "csv" and not as_json
            told = trainer.export_csv(caller) if csv else trainer.export_json(caller)
            return b"".join([piece async for piece in told])

        written = _with(opened, pieces)
        if to is None:
            typer.echo(written.decode(), nl=False)
        else:
            to.write_bytes(written)
            typer.echo(f"wrote {to}", err=True)


def _with(opened: Opened, act: Callable[[Trainer], Awaitable[T]]) -> T:
    async def done() -> T:
        async with opened() as trainer:
            return await act(trainer)

    return asyncio.run(done())


def _caller(user_id: str) -> Caller:
    """Whoever has this terminal has the whole house, and may be anybody in it."""
    if user_id == LOCAL_OWNER.user_id:
        return LOCAL_OWNER
    return Caller(user_id, user_id, frozenset({"user"}), "owner")


async def _chosen(trainer: Trainer, caller: Caller, scenario_id: str | None) -> Scenario:
    if scenario_id is not None:
        return (await trainer.scenario(caller, scenario_id)).scenario
    suggestion = await trainer.suggestion(caller)
    if suggestion is None:
        raise InvalidInput("Nothing is on offer: run `grandstand trainer scenarios load` first")
    return suggestion.scenario


async def _judge_waiting(trainer: Trainer) -> list[str]:
    told = []
    async for each in trainer.waiting():
        try:
            done = await trainer.evaluate(each.attempt_id)
        except GrandstandError as fault:
            told.append(f"{each.attempt_id}: {fault}")
            continue
        score = None if done is None or done.evaluation is None else done.evaluation.overall_score
        told.append(f"{each.attempt_id}: {score} of 100")
    return told


def _lines() -> str:
    lines = []
    for line in sys.stdin:
        if line.rstrip("\r\n") == _END:
            break
        lines.append(line)
    return "".join(lines).strip()


def _read_answers(file: Path) -> tuple[str, Given]:
    try:
        with file.open("rb") as opened:
            read = json.loads(opened.read(_LARGEST_BYTES))
        answers = tuple(
            GivenAnswer(
                str(each["questionId"]),
                str(each["answer"]),
                _percent(each.get("probabilityPercent")),
            )
            for each in read["answers"]
        )
        return str(read["scenarioId"]), Given(answers)
    except OSError as fault:
        raise InvalidInput(f"The file {file} cannot be read: {fault.strerror}") from fault
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        message = (
            f'{file} must be JSON: {{"scenarioId": "…", "answers": '
            f'[{{"questionId": "…", "answer": "…"}}]}}; at fault: {fault}'
        )
        raise InvalidInput(message) from fault


def _percent(given: object) -> int | None:
    if given is None or type(given) is int:
        return given
    raise TypeError("probabilityPercent is no whole number")


def _echo_json(value: Any) -> None:  # noqa: ANN401 - any value of ours
    typer.echo(json.dumps(plain(value), indent=2, ensure_ascii=False))


def _print_offers(found: tuple[Offered, ...]) -> None:
    lines = []
    for each in found:
        scenario, progress = each.scenario, each.progress
        best = "–" if progress.best_score is None else str(progress.best_score)
        cells = (scenario.scenario_id, scenario.title, scenario.difficulty)
        lines.append(Line((*cells, str(scenario.estimated_minutes), progress.state, best)))
    print_grid(console(), _OFFERS, lines)


def _print_scenario(scenario: Scenario) -> None:
    typer.secho(f"{scenario.title} ({scenario.difficulty})", bold=True)
    typer.echo(f"\n{scenario.description}")


def _print_evaluation(evaluation: Evaluation, details: EvaluationDetails | None) -> None:
    typer.secho(f"\n{evaluation.overall_score} of 100, by {evaluation.model_id}", bold=True)
    for each in evaluation.dimensions:
        typer.echo(f"{BY_NAME[each.name].title}: {each.score} of {MOST}")
        for reason in each.rationale:
            typer.echo(f"    {reason}")
    typer.echo(f"\n{evaluation.feedback}")
    if details is not None and details.note:
        typer.echo(f"\n{details.note}")


def _print_profile(profile: Profile) -> None:
    over = _attempts(profile.attempt_count)
    typer.secho(f"{profile.overall_average} of 100 over {over}", bold=True)
    for each in profile.dimensions:
        title, average = BY_NAME[each.name].title, each.moving_average
        typer.echo(f"{title}: {average} ± {each.standard_deviation}, {each.trend}")
    for recommendation in profile.recommendations:
        typer.echo(f"→ {recommendation}")


def _attempts(count: int) -> str:
    return "1 attempt" if count == 1 else f"{count} attempts"
