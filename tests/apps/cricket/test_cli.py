"""Cricket at a terminal."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner, Result

from grandstand.apps.cricket.cli import commands
from grandstand.apps.cricket.domain.display import swift_source
from grandstand.apps.cricket.domain.errors import DeviceNotFound, MatchNotFound
from grandstand.apps.cricket.services import Cricket
from grandstand.core.clock import ManualClock
from grandstand.core.errors import InvalidInput
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.cricket.services.stage import (
    ADA,
    ALL_TABLES,
    MATCH,
    Stage,
    scores_of,
    staged,
    started,
)
from tests.apps.cricket.tapes.tape_reader import INCLUDES, START, telling

CRICSHEET = Path(__file__).parent / "cricsheet"
GOLDEN = Path(__file__).parent / "tapes" / "golden"
TAPE = "1178424"
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
Say = Callable[..., Result]


@pytest.fixture(scope="module")
def say(tmp_path_factory: pytest.TempPathFactory) -> Say:
    """Give a command; each opens the store anew, with a match on that Ada follows."""
    path, clock = tmp_path_factory.mktemp("cli") / "tables.db", ManualClock(NOON)
    store = _open(path, clock)
    store.create(ALL_TABLES)
    played = staged(store, clock)
    asyncio.run(_play(played))
    store.close()

    @asynccontextmanager
    async def opening() -> AsyncIterator[Cricket]:
        kept = _open(path, clock)
        try:
            yield staged(kept, clock, beside=played).cricket
        finally:
            kept.close()

    group = commands(opening)
    return lambda *words: CliRunner().invoke(group, [*words])


def _open(path: Path, clock: ManualClock) -> Store:
    return Store(SqliteEngine.open(path, clock=clock), naming=Naming(), clock=clock)


async def _play(stage: Stage) -> None:
    scorer = started()
    stage.feed.says(scores_of(scorer, stage.clock))
    await stage.cricket.league_sync.run()
    await stage.cricket.team_sync.run()
    await stage.cricket.fixture_sync.run()
    await stage.tick(scorer)
    for runs in (4, 4, 4):
        scorer.bowl(runs)
        await stage.tick(scorer)
    await stage.joined(ADA)


def test_matches_are_listed_with_how_they_stand(say: Say) -> None:
    shown, listed = say("matches"), say("matches", "--json", "--status", "live")
    none = say("matches", "--status", "completed")

    (match,) = json.loads(listed.stdout)
    assert "Harbour Town" in shown.stdout
    assert (match["match_id"], match["innings"][0]["score"]) == (MATCH, 12)
    assert "No matches." in none.stdout


def test_events_are_shown_with_why_some_were_not_told(say: Say) -> None:
    shown, listed = say("events", MATCH), say("events", MATCH, "--json")
    told = say("events", MATCH, "--pushed", "--json")

    found = json.loads(listed.stdout)
    fours = [each["filtered"] for each in reversed(found) if each["kind"] == "four"]
    assert fours == ["outranked", None, "cooldown"]
    assert {each["filtered"] for each in json.loads(told.stdout)} == {None}
    assert shown.stdout.splitlines()[0] == "Harbour Town v Hill City: HAR 12/0 (0.3)"


def test_a_match_nobody_knows_has_no_events(say: Say) -> None:
    answer = say("events", "999")

    assert isinstance(answer.exception, MatchNotFound)


def test_a_cricsheet_file_is_replayed_as_its_golden_list_says(say: Say) -> None:
    answer = say("replay", str(CRICSHEET / f"{TAPE}.json"), "--all", "--json")

    found = [each["key"] for each in json.loads(answer.stdout)]
    golden = (GOLDEN / f"{TAPE}.txt").read_text(encoding="utf-8").splitlines()
    wickets = [line for line in golden if "| wicket |" in line]
    assert sum(key.startswith("wicket") for key in found) == len(wickets)
    assert len(found) == len(set(found))


def test_a_replay_that_looks_seldom_finds_the_same_wickets(say: Say) -> None:
    often = say("replay", str(CRICSHEET / f"{TAPE}.json"), "--all", "--json")
    seldom = say("replay", str(CRICSHEET / f"{TAPE}.json"), "--all", "--json", "--every", "13")

    assert _wickets(often) == _wickets(seldom)
    assert _wickets(often)


def _wickets(answer: Result) -> list[str]:
    return sorted(each["key"] for each in json.loads(answer.stdout) if each["kind"] == "wicket")


def test_recorded_answers_are_replayed_line_by_line(say: Say, tmp_path: Path) -> None:
    match = telling(TAPE)
    moments = match.timeline.moments[:30]
    answers = [
        (START + timedelta(seconds=moment.at), match.serializer.row(moment, (*INCLUDES, "balls")))
        for moment in moments
    ]
    lines = [msgspec.json.encode({"at": at, "answer": {"data": row}}) for at, row in answers]
    (tmp_path / "recording.jsonl").write_bytes(b"\n".join(lines))
    (tmp_path / "list.json").write_bytes(msgspec.json.encode([row for _, row in answers]))

    by_line = say("replay", str(tmp_path / "recording.jsonl"))
    as_list = say("replay", str(tmp_path / "list.json"))

    assert "match_start" in by_line.stdout
    assert "match_start" in as_list.stdout


@pytest.mark.parametrize("content", ["", "no JSON", "[1]", '{"data": [{}]}', '{"answer": 3}'])
def test_what_is_no_recording_is_refused(say: Say, tmp_path: Path, content: str) -> None:
    (tmp_path / "file").write_text(content, encoding="utf-8")

    answer = say("replay", str(tmp_path / "file"))
    missing = say("replay", str(tmp_path / "not-there"))

    assert isinstance(answer.exception, InvalidInput)
    assert isinstance(missing.exception, InvalidInput)


def test_a_test_is_pushed_to_ones_own_devices_alone(say: Say) -> None:
    mine, nobodys = say("push", "test", "--user", "ada", "--json"), say("push", "test")
    shown = say("push", "test", "--user", "ada")

    assert json.loads(mine.stdout) == {"phone": "delivered"}
    assert shown.stdout == "phone: delivered\n"
    assert isinstance(nobodys.exception, DeviceNotFound)


def test_a_sync_says_what_it_found(say: Say) -> None:
    answer = say("sync")

    assert "1 matches found" in answer.stdout


def test_the_swift_file_is_printed_as_it_is(say: Say) -> None:
    answer = say("swift")

    assert answer.stdout == swift_source()
