"""Keiba at a terminal, in front of the simulated race site."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from grandstand.apps.keiba.cli import commands
from grandstand.apps.keiba.domain.ids import InvalidId
from grandstand.apps.keiba.services import Keiba
from grandstand.apps.keiba.services.cache_admin import CacheEntryNotFound
from grandstand.core.clock import ManualClock, SystemClock
from grandstand.core.errors import InvalidInput
from grandstand.simulators.malformed import MalformedReply
from grandstand.simulators.racing.site import Site
from grandstand.simulators.racing.world import World
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.keiba.stage import ALL_TABLES, NOON, SUNDAY, staged

Say = Callable[..., Result]

_POSITIVE = re.compile(r"\+\d+\.\d points\.")


@pytest.fixture(scope="module")
def site(racing_world: World) -> Site:
    return Site(racing_world, clock=ManualClock(NOON), wall=SystemClock())


@pytest.fixture(scope="module")
def race_id(site: Site) -> str:
    """The smallest race of the Sunday that is run already."""
    races = site.world.races_between("jra", SUNDAY, SUNDAY)
    run = [race for race in races if race.confirmed_at < NOON]
    return min(run, key=lambda race: len(race.horses)).race_id


@pytest.fixture(scope="module")
def say(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Say:
    """Give a command; each opens keiba anew, and all of them keep in one place."""
    return _saying(site, tmp_path_factory.mktemp("keiba") / "tables.db")


@pytest.fixture
def say_elsewhere(site: Site, tmp_path: Path) -> Say:
    """Give a command where nothing is kept yet."""
    return _saying(site, tmp_path / "tables.db")


def _saying(site: Site, file: Path) -> Say:
    clock = ManualClock(NOON)

    @asynccontextmanager
    async def opening() -> AsyncIterator[Keiba]:
        engine = SqliteEngine.open(file, clock=clock)
        with Store(engine, naming=Naming(), clock=clock) as store:
            store.create(ALL_TABLES)
            async with staged(store, site, clock) as stage:
                yield stage.keiba

    group = commands(opening)

    def said(*words: str, typed: str = "", width: int = 120) -> Result:
        surroundings = {"COLUMNS": str(width), "NO_COLOR": "1", "TERM": "dumb"}
        return CliRunner().invoke(group, [*words], input=typed, env=surroundings)

    return said


@pytest.fixture(scope="module")
def card(say: Say, race_id: str) -> Result:
    """The card as it is shown first, when everything has to be fetched."""
    return say("race", race_id, "--result", "--preview")


def test_a_day_is_listed_by_track_with_post_times_and_where_it_came_from(
    say: Say, race_id: str
) -> None:
    shown = say("day", "20261115")
    output = json.loads(say("day", "2026-11-15", "--circuit", "jra", "--json").stdout)

    assert shown.exit_code == 0
    assert "Sunday 15 November 2026" in shown.stdout
    assert race_id in shown.stdout
    assert "race_list_sub.html?kaisai_date=20261115: just fetched" in shown.stdout
    assert {meeting["circuit"] for meeting in output["meetings"]} == {"jra"}
    assert output["meetings"][0]["races"][0]["off_at"].startswith("2026-11-15T10:")
    assert {each["state"] for each in output["origins"]} == {"fresh"}


def test_without_a_date_the_next_racing_is_listed(say: Say) -> None:
    output = json.loads(say("day", "--circuit", "jra", "--json").stdout)

    assert output["race_date"] == "2026-11-15"


def test_what_is_no_date_is_refused(say: Say) -> None:
    assert isinstance(say("day", "tomorrow").exception, InvalidInput)
    assert isinstance(say("prefetch", "20261331").exception, InvalidInput)


def test_a_card_shows_chances_reasons_result_and_preview(card: Result) -> None:
    assert card.exit_code == 0
    assert "win %" in card.stdout
    assert _POSITIVE.search(card.stdout)
    assert "100 yen paid" in card.stdout
    assert "Preview, by offline" in card.stdout
    assert ": 0 cached, " in card.stdout


def test_a_card_that_is_kept_is_answered_in_full_for_programs(
    say: Say, card: Result, race_id: str
) -> None:
    output = json.loads(say("race", race_id, "--json").stdout)

    runners = output["card"]["runners"]
    assert (output["result"], output["preview"]) == (None, None)
    assert output["card"]["progress"]["fetched"] == 0
    assert output["card"]["race"]["origin"]["state"] == "fresh"
    assert sum(each["ranked"]["win"] for each in runners if each["ranked"]) == pytest.approx(1)
    assert f"{len(runners)} " in card.stdout


def test_a_narrow_terminal_gets_fewer_columns_and_no_line_too_long(
    say: Say, card: Result, race_id: str
) -> None:
    narrow = say("race", race_id, "--reasons", "0", width=40).stdout
    tables = [line for line in narrow.splitlines() if not line.startswith(("http", "final"))]

    assert "jockey" in card.stdout
    assert "jockey" not in narrow
    assert max(map(len, tables)) <= 40


def test_reasons_are_told_in_japanese_on_demand(say: Say, card: Result, race_id: str) -> None:
    output = say("race", race_id, "--reasons", "1", "--language", "ja").stdout

    assert "点のプラス" in output
    assert _POSITIVE.search(card.stdout)
    assert "points" not in output


def test_a_horse_is_shown_with_parents_runs_and_ancestors(
    say: Say, card: Result, race_id: str
) -> None:
    runner = json.loads(say("race", race_id, "--json").stdout)["card"]["runners"][0]
    horse_id = runner["runner"]["horse_id"]

    shown = say("horse", horse_id, "--pedigree", "--runs", "1")
    output = json.loads(say("horse", horse_id, "--json").stdout)

    assert card.exit_code == 0
    assert f"({horse_id})" in shown.stdout
    assert f"sire {output['parents']['value']['sire']['name']}" in shown.stdout
    assert f"{len(output['form']['value']['recent_results']) - 1} more;" in shown.stdout
    assert shown.stdout.count("── sire ") == 31
    assert isinstance(say("horse", "nobody").exception, InvalidId)


def test_a_jockey_is_shown_year_by_year(say: Say, card: Result, race_id: str) -> None:
    runner = json.loads(say("race", race_id, "--json").stdout)["card"]["runners"][0]
    jockey_id = runner["runner"]["jockey_id"]

    shown = say("jockey", jockey_id)
    output = json.loads(say("jockey", jockey_id, "--json").stdout)

    assert card.exit_code == 0
    assert "last five years" in shown.stdout
    assert "2026 JRA" in shown.stdout
    assert output["value"]["jockey_id"] == jockey_id
    assert output["value"]["recent_5year_stats"]["total_races"] > 0


def test_what_is_kept_is_counted_and_shown(say: Say, card: Result, race_id: str) -> None:
    shown = say("cache", "stats")
    output = json.loads(say("cache", "stats", "--json").stdout)
    listed = say("cache", "inspect", f"RACE#{race_id}")
    entry = say("cache", "inspect", f"RACE#{race_id}", "METADATA")
    missing = say("cache", "inspect", f"RACE#{race_id}", "NOTHING")

    assert card.exit_code == 0
    assert "netkeiba-db" in shown.stdout
    assert "must not be redistributed" in shown.stdout
    assert output["entries"] == sum(each["valid"] + each["expired"] for each in output["kinds"])
    assert "METADATA" in listed.stdout
    assert f'"race_id": "{race_id}"' in entry.stdout
    assert isinstance(missing.exception, CacheEntryNotFound)


def test_a_purge_counts_first_and_asks(say: Say, card: Result, race_id: str) -> None:
    prefix = ("cache", "purge", "--prefix", f"RACE#{race_id}", "--kind", "RaceOutcome")

    counted = say(*prefix, "--dry-run")
    refused = say(*prefix, typed="n\n")
    again = json.loads(say(*prefix, "--dry-run", "--json").stdout)
    done = say(*prefix, typed="y\n")
    gone = say(*prefix, "--yes")

    assert card.exit_code == 0
    assert "1 entry" in counted.stdout
    assert (refused.exit_code, again["matched"], again["dry_run"]) == (1, 1, True)
    assert "Remove 1 entry" in done.output
    assert "1 entry removed" in done.stdout
    assert "No matching entries." in gone.stdout


def test_a_purge_of_everything_or_without_anybody_to_ask_is_refused(say: Say) -> None:
    assert isinstance(say("cache", "purge", "--yes").exception, InvalidInput)
    assert isinstance(say("cache", "purge", "--expired", "--json").exception, InvalidInput)
    assert isinstance(say("cache", "purge", "--older-than", "long").exception, InvalidInput)


@pytest.mark.parametrize(("written", "matched"), [("90min", 0), ("0s", 1)])
def test_a_purge_by_age_leaves_what_is_younger(
    say: Say, card: Result, race_id: str, *, written: str, matched: int
) -> None:
    words = ("cache", "purge", "--prefix", f"RACE#{race_id}", "--kind", "Race", "--json")

    output = json.loads(say(*words, "--older-than", written, "--dry-run").stdout)

    assert card.exit_code == 0
    assert output["matched"] == matched


def test_the_ranking_is_held_against_the_results_that_are_kept(
    say: Say, card: Result, race_id: str
) -> None:
    fetched = say("race", race_id, "--result")

    shown = say("backtest", "20261115", "20261115")
    output = json.loads(say("backtest", "20261115", "20261115", "--json").stdout)
    nothing = say("backtest", "20261101", "20261102")

    assert (card.exit_code, fetched.exit_code) == (0, 0)
    assert "2026-11-15 to 2026-11-15: 1 race\n" in shown.stdout
    assert "uniform" in shown.stdout
    assert (output["races"], output["skipped"]) == (1, 0)
    assert "No cached results for these days" in nothing.stdout


def test_prefetching_a_day_without_racing_says_so(say: Say) -> None:
    output = say("prefetch", "20261117", "--circuit", "jra")

    assert output.exit_code == 0
    assert output.stdout == "No racing on this day.\n"


def test_prefetching_ends_in_failure_and_names_the_race_that_failed(
    say_elsewhere: Say, site: Site
) -> None:
    site.malformed.ask_for(MalformedReply("captcha", "/race/race/shutuba.html"))

    output = say_elsewhere("prefetch", "20261115", "--circuit", "jra")
    again = say_elsewhere("prefetch", "20261115", "--circuit", "jra", "--json")
    site.malformed.ask_for()

    first = site.world.race_ids("jra", SUNDAY)[0]
    assert (output.exit_code, again.exit_code) == (76, 76)
    assert "1 of 36 races, 0 pages cached, 0 fetched, 1 failed" in output.stdout
    assert f"! {first}: " in output.stdout
    assert json.loads(again.stdout)["failed"][0][0] == first
    assert "are for personal use" in output.stderr
