"""Kept here: the table of a card's runners, and the strip of a horse's last runs."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from markupsafe import Markup

from grandstand.apps.keiba.model import PastRun, Runner
from grandstand.apps.keiba.model.reasons import Reason
from grandstand.apps.keiba.pages.tongue import Tongue
from grandstand.apps.keiba.service import Card, CardRunner
from grandstand.kit.pages.shown import NOTHING, number, percent
from grandstand.kit.pages.table import Cell, Column, DataTable, Row

STRIP_RUNS: Final = 5
_PLACED: Final = 3


def runner_table(card: Card, t: Tongue, *, ended: bool = True) -> DataTable:
    """Answer the runners with what is known of each, to be sorted by any column.

    Once the gathering has `ended`, those of whom something is missing are marked.
    """
    w = t.w
    columns = (
        Column("number", w["number"], "number"),
        Column("horse", w["horse"]),
        Column("sex", w["sex_age"], rank=2),
        Column("carried", w["carried"], "number", rank=2),
        Column("jockey", w["jockey"], rank=2),
        Column("trainer", w["trainer"], rank=2),
        Column("body", w["body"], "number", rank=2),
        Column("form", w["form"]),
        Column("rest", w["rest"], "number", rank=2),
        Column("sire", w["sire"], rank=2),
        Column("win", w["win"], "number"),
        Column("odds", w["odds"], "number"),
        Column("popularity", w["popularity"], "number", rank=2),
        Column("choose", w["choose"], sorts=False),
    )
    rows = tuple(_row(each, t, marked=ended and is_partial(each)) for each in card.runners)
    return DataTable("runners", w["runners"], columns, rows)


def badge_of(horse_number: int | None, frame: int | None) -> Markup:
    """Mark up a horse's number in the colour of its frame's caps; nothing before it is drawn."""
    if horse_number is None:
        return Markup()
    kind = f"cap cap-{frame}" if frame in range(1, 9) else "cap"
    return Markup('<span class="{}">{}</span>').format(kind, horse_number)


def japanese(text: str | None) -> Markup:
    """Mark up a name as the site writes it."""
    if text is None:
        return Markup(NOTHING)  # noqa: S704 - a constant
    return Markup('<span lang="ja">{}</span>').format(text)


def finish(run: PastRun, t: Tongue) -> str:
    """Write where a run ended, or how it did not."""
    if run.position is not None:
        return str(run.position)
    return t.term("short_outcome", run.outcome) or NOTHING


def strip(runs: Sequence[PastRun], t: Tongue) -> Markup:
    """Mark up a horse's last runs as a strip of places, newest first."""
    last = runs[:STRIP_RUNS]
    if not last:
        return Markup('<span class="muted">{}</span>').format(NOTHING)
    told = ", ".join(
        f"{finish(run, t)}/{run.runner_count}" if run.runner_count else finish(run, t)
        for run in last
    )
    chips = Markup("").join(
        Markup('<i class="{}">{}</i>').format(_tone(run), finish(run, t)) for run in last
    )
    return Markup('<span class="strip" role="img" aria-label="{}: {}">{}</span>').format(
        t.w["form_of"], told, chips
    )


def _tone(run: PastRun) -> str:
    if run.position is None:
        return "run-none"
    return f"run-{run.position}" if run.position <= _PLACED else "run-other"


def sex_age(runner: Runner, t: Tongue) -> str:
    """Write a runner's sex and age as its language does: 牡3, or horse, 3."""
    sex, age = t.term("sex", runner.sex), "" if runner.age is None else str(runner.age)
    return (f"{sex}{age}" if t.japanese else ", ".join(filter(None, (sex, age)))) or NOTHING


def body_weight(runner: Runner) -> str:
    """Write the weight of a runner and its change."""
    if runner.body_weight is None:
        return NOTHING
    if runner.body_weight_change is None:
        return str(runner.body_weight)
    return f"{runner.body_weight} ({number(runner.body_weight_change, signed=True)})"


def is_partial(each: CardRunner) -> bool:
    """Whether something of a runner that starts is missing, or was read in part."""
    runner = each.runner
    lacking = each.form is None or each.parents is None
    unridden = each.jockey is None and runner.jockey_id is not None
    return not runner.scratched and (lacking or unridden or bool(each.warnings))


def _row(each: CardRunner, t: Tongue, *, marked: bool) -> Row:
    runner, ranked = each.runner, each.ranked
    runs = () if each.form is None else each.form.value.recent_results
    rest = None if each.figures is None else each.figures.days_since_last_run
    sire = None if each.parents is None else each.parents.value.sire
    odds = ranked.odds if ranked is not None and ranked.odds is not None else runner.win_odds
    popularity = runner.popularity if ranked is None else ranked.popularity or runner.popularity
    form = strip(runs, t) if each.form is not None else Markup(NOTHING)  # noqa: S704
    return Row(
        runner.horse_id,
        (
            Cell(badge_of(runner.horse_number, runner.frame_number), runner.horse_number),
            _horse(runner, t, marked=marked),
            Cell(sex_age(runner, t)),
            Cell(number(runner.carried_weight), runner.carried_weight),
            _linked("jockeys", runner.jockey_id, runner.jockey_name),
            Cell(japanese(runner.trainer_name)),
            Cell(body_weight(runner), runner.body_weight),
            Cell(form, _mean_finish(runs)),
            Cell(number(rest), rest),
            _linked("horses", sire.id, sire.name) if sire else Cell(NOTHING),
            Cell(percent(ranked.win) if ranked else NOTHING, ranked.win if ranked else None),
            Cell(written_odds(odds), odds),
            Cell(number(popularity), popularity),
            _choice(runner, t),
        ),
    )


def written_odds(odds: Decimal | float | None) -> str:
    """Write win odds as the course does: what one yen brings back."""
    return NOTHING if odds is None else number(odds, 1)


def weighed(reasons: Sequence[Reason]) -> list[Reason]:
    """Answer the reasons of a rank, the weightiest first."""
    return sorted(reasons, key=lambda why: -abs(why.points))


def points(value: float) -> str:
    """Write points of the ranking: signed, to a tenth, and nothing as nought."""
    return number(value, 1, signed=True) if round(value, 1) else "0"


def _horse(runner: Runner, t: Tongue, *, marked: bool) -> Cell:
    """The name, with what is to be known at a glance: that it does not run, or is known in part."""
    note = t.w["scratched"] if runner.scratched else t.w["in_part"] if marked else ""
    name = japanese(runner.horse_name)
    said = Markup("{} <small>{}</small>").format(name, note) if note else name
    href = f"/keiba/horses/{runner.horse_id}"
    return Cell(said, runner.horse_name, href=href, tone="quiet" if runner.scratched else "")


def _linked(room: str, key: str | None, name: str | None) -> Cell:
    href = f"/keiba/{room}/{key}" if key and name else ""
    return Cell(japanese(name), name, href=href)


def _choice(runner: Runner, t: Tongue) -> Cell:
    if runner.scratched:
        return Cell("")
    box = Markup('<input type="checkbox" name="horse" value="{}" form="compare" aria-label="{}">')
    return Cell(box.format(runner.horse_id, f"{t.w['choose']}: {runner.horse_name}"))


def _mean_finish(runs: Sequence[PastRun]) -> float | None:
    places = [run.position for run in runs[:STRIP_RUNS] if run.position is not None]
    return sum(places) / len(places) if places else None
