"""The command line of tables, run as a person runs it, on a data folder of its own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from grandstand.core.clock import SystemClock
from grandstand.host.cli import app
from grandstand.host.infrastructure import open_store
from grandstand.host.settings import Settings
from grandstand.storage.tables.requests import PutItem

Run = Callable[..., Result]
PAST = int(SystemClock().epoch()) - 60


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command line on a fresh data folder, on a wide terminal."""
    monkeypatch.setenv("GRANDSTAND_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "200")
    runner = CliRunner()

    def invoke(*arguments: str) -> Result:
        return runner.invoke(app, arguments)

    return invoke


def test_tables_are_listed_with_their_keys_and_whether_they_exist(run: Run) -> None:
    before = run("tables", "list").stdout
    run("tables", "create", "trainer")
    after = run("tables", "list").stdout

    attempts = [line for line in before.splitlines() if " Attempts " in line]
    assert "attemptId" in attempts[0]
    assert "missing" in attempts[0]
    assert "missing" not in next(line for line in after.splitlines() if " Attempts " in line)


def test_creating_twice_makes_each_table_once(run: Run) -> None:
    first = run("tables", "create").stdout
    second = run("tables", "create").stdout

    made = int(re.findall(r"(\d+) created", first)[-1])
    assert made >= 17
    assert f"0 created, {made} existed" in second


def test_an_unknown_table_is_answered_with_those_there_are(run: Run) -> None:
    result = run("tables", "describe", "nothing")

    assert result.exit_code == 1
    assert "No table or app named nothing" in str(result.exception)


def test_a_cloudformation_template_has_every_table_and_its_stream(run: Run) -> None:
    template = json.loads(run("tables", "export", "--format", "cloudformation").stdout)

    resources = template["Resources"]
    attempts = resources["Attempts"]["Properties"]
    assert attempts["StreamSpecification"] == {"StreamViewType": "NEW_IMAGE"}
    assert len(resources) >= 17
    assert all(one["DeletionPolicy"] == "Retain" for one in resources.values())


def test_a_workbench_model_has_a_facet_for_every_entity(run: Run) -> None:
    model = json.loads(run("tables", "export", "keiba", "--format", "workbench").stdout)

    (table,) = model["DataModel"]
    assert table["TableName"] == "keiba_data"
    assert {facet["KeyAttributeAlias"]["PartitionKeyAlias"] for facet in table["TableFacets"]} >= {
        "RACE#{race_id}",
        "JOCKEY#{jockey_id}",
    }


def test_an_export_goes_to_a_file_when_told(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "tables.md"

    run("tables", "export", "cricket", "--to", str(target))

    assert "## cricket-locks" in target.read_text(encoding="utf-8")


def test_a_pattern_is_explained_as_the_request_it_makes(run: Run) -> None:
    told = run("tables", "explain", "GameOdds.upcoming").stdout

    assert '"IndexName": "ActiveBetsIndexV2"' in told
    assert "KeyConditionExpression" in told
    assert "0.5 read units, 0 write units" in told


def test_a_setting_that_makes_no_sense_says_what_would() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "grandstand", "tables", "list"],
        capture_output=True,
        text=True,
        check=False,
        env={"GRANDSTAND_TABLES": "oracle", "PATH": "/usr/bin:/bin"},
    )

    assert ran.returncode == 65
    assert "Use sqlite, sqlite:PATH, dynamodb" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_other_machines_are_kept_out_until_keys_are_set(run: Run) -> None:
    result = run("tables", "serve", "--host", "0.0.0.0", "--memory")  # noqa: S104 - refused

    assert "Set GRANDSTAND_TABLES_ACCESS_KEYS first" in str(result.exception)


def test_the_endpoint_is_announced_answers_and_stops_plainly(tmp_path: Path) -> None:
    serve = ["tables", "serve", "--port", "0", "--file", str(tmp_path / "tables.db")]
    with subprocess.Popen(
        [sys.executable, "-m", "grandstand", *serve],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = re.findall(r"http://127\.0\.0\.1:\d+", line)[0]
        with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310 - our own
            healthy = answer.read()
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)

    assert healthy.startswith(b"healthy")
    assert complaint == ""
    assert process.returncode in (0, 130)


def test_a_sweep_tells_what_went_and_when_there_is_more(run: Run) -> None:
    run("tables", "create", "keiba")
    with open_store(Settings()) as store:
        engine = store.session.engine
        for n in range(3):
            engine.put(PutItem("keiba_data", {"PK": f"RACE#{n}", "SK": "METADATA", "ttl": PAST}))

    first = run("tables", "sweep", "--limit", "2").stdout
    second = run("tables", "sweep").stdout

    assert "keiba_data: 2 deleted" in first
    assert "there may be more" in first
    assert "keiba_data: 1 deleted" in second
    assert "more" not in second


def test_the_version_is_told(run: Run) -> None:
    assert run("--version").stdout.startswith("grandstand 0.")
