"""Kept here: how a horse and a jockey look at a terminal."""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.tree import Tree

from grandstand.apps.keiba.cli.telling import source, warn
from grandstand.apps.keiba.cli.words import NONE, course, money, place, record, shown
from grandstand.apps.keiba.model import (
    Ancestor,
    JockeyFigures,
    JockeyRecord,
    Parent,
    PastRun,
    Pedigree,
)
from grandstand.apps.keiba.service import Horse, Sourced
from grandstand.kit.terminal import Column, Line, print_grid, say, title

_RUN_COLUMNS: Final = (
    Column("date", right=True),
    Column("track", from_width=44),
    Column("race", from_width=60),
    Column("course", from_width=52),
    Column("going", from_width=90),
    Column("place", right=True),
    Column("time", right=True, from_width=70),
    Column("jockey", from_width=100),
    Column("odds", right=True, from_width=80),
    Column("last 3F", right=True, from_width=110),
    Column("weight", right=True, from_width=120),
    Column("race id", right=True, from_width=140),
)
_FIGURE_COLUMNS: Final = (
    Column(""),
    Column("rides", right=True),
    Column("1st", right=True),
    Column("2nd", right=True, from_width=50),
    Column("3rd", right=True, from_width=50),
    Column("win %", right=True),
    Column("top 2 %", right=True, from_width=70),
    Column("top 3 %", right=True),
    Column("rank", right=True, from_width=80),
    Column("best horse", from_width=90),
)


def print_horse(to: Console, horse: Horse, *, runs: int, pedigree: bool) -> None:
    """Print a horse: who it is, its parents, its last runs, and on demand its ancestors."""
    profile = horse.profile.value
    names = " ".join(filter(None, (horse.name, profile.english_name)))
    title(to, f"{names} ({horse.horse_id})")
    for line in _horse_lines(horse):
        say(to, line)
    if horse.form is not None and horse.form.value.recent_results:
        to.print()
        shown_runs = horse.form.value.recent_results[:runs]
        print_grid(to, _RUN_COLUMNS, map(_run_line, shown_runs))
        more = len(horse.form.value.recent_results) - len(shown_runs)
        if more:
            say(to, f"{more} earlier; --runs shows more.", "dim")
    if pedigree and horse.pedigree is not None:
        to.print()
        to.print(_tree(horse.name, horse.pedigree.value))
    to.print()
    warn(to, horse.warnings)
    for each in (horse.profile, horse.form, horse.pedigree):
        if each is not None:
            source(to, each.origin)


def _horse_lines(horse: Horse) -> list[str]:
    profile = horse.profile.value
    state = {True: "active", False: "retired", None: None}[profile.active]
    age = None if profile.age is None else f"{profile.age} years"
    born = None if profile.born_on is None else f"born {profile.born_on}"
    trained = " ".join(filter(None, (profile.trainer_name, profile.stable)))
    trainer = f"trained by {trained}" if trained else None
    about = (state, profile.sex, age, profile.coat, born, trainer)
    lines = [
        ", ".join(filter(None, about)),
        f"{record(horse.career)}, won {money(profile.earnings)}",
    ]
    if horse.parents is not None:
        parents = horse.parents.value
        lines += [f"sire {_parent(parents.sire)}", f"dam {_parent(parents.dam)}"]
    return [line for line in lines if line]


def _parent(parent: Parent) -> str:
    if parent.name is None:
        return "unknown"
    told = parent.name if parent.id is None else f"{parent.name} ({parent.id})"
    if parent.first is None:
        return told
    places = "-".join(
        shown(each) for each in (parent.first, parent.second, parent.third, parent.fourth_or_lower)
    )
    return f"{told}, {places}, won {money(parent.earnings)}"


def _run_line(run: PastRun) -> Line:
    placed = run.outcome or NONE if run.position is None else place(run)
    if run.position is not None and run.runner_count is not None:
        placed = f"{placed}/{run.runner_count}"
    return Line(
        (
            f"{run.run_on:%Y-%m-%d}",
            run.track,
            run.race_name,
            course(run.track_type, run.distance),
            run.going or NONE,
            placed,
            run.time or NONE,
            run.jockey_name or NONE,
            shown(run.win_odds),
            shown(run.last_3f),
            shown(run.body_weight),
            run.race_id or NONE,
        ),
        "bold" if run.position == 1 else "",
    )


def _tree(name: str, pedigree: Pedigree) -> Tree:
    root = Tree(escape(name), guide_style="dim")
    nodes = {"": root}
    for ancestor in sorted(pedigree.ancestors, key=lambda one: one.path.replace("S", "A")):
        under = nodes.get(ancestor.path[:-1])
        if under is not None:
            nodes[ancestor.path] = under.add(escape(_ancestor(ancestor)))
    return root


def _ancestor(ancestor: Ancestor) -> str:
    side = "sire" if ancestor.path.endswith("S") else "dam"
    name = ancestor.name or ancestor.english_name or "unknown"
    about = " ".join(filter(None, (ancestor.country, shown(ancestor.born_year))))
    return f"{side} {name} {about}".rstrip(f" {NONE}")


def print_jockey(to: Console, jockey: Sourced[JockeyRecord]) -> None:
    """Print a jockey's career, the last five years together, and year by year."""
    found = jockey.value
    title(to, f"{found.jockey_name} ({found.jockey_id})")
    debut = None if found.debut_year is None else f"first rode in {found.debut_year}"
    height = None if found.height_cm is None else f"{found.height_cm} cm"
    weight = None if found.weight_kg is None else f"{found.weight_kg} kg"
    about = ", ".join(filter(None, (found.kana, found.affiliation, debut, height, weight)))
    if about:
        say(to, about)
    to.print()
    lines = [_figures("career", found.overall_stats)]
    if found.recent_5year_stats is not None:
        lines.append(_figures("last five years", found.recent_5year_stats))
    for year in found.years:
        name = f"{year.year} {year.circuit.upper()}"
        lines.append(_figures(name, year.figures, shown(year.rank), year.best_horse or NONE))
    print_grid(to, _FIGURE_COLUMNS, lines)
    to.print()
    warn(to, jockey.warnings)
    source(to, jockey.origin)


def _figures(name: str, figures: JockeyFigures, rank: str = "", best_horse: str = "") -> Line:
    return Line(
        (
            name,
            f"{figures.total_races:,}",
            f"{figures.wins:,}",
            f"{figures.seconds:,}",
            f"{figures.thirds:,}",
            shown(figures.win_rate),
            shown(figures.top2_rate),
            shown(figures.place_rate),
            rank,
            best_horse,
        )
    )
