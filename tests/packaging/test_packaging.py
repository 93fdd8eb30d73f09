"""What the container, compose and service files name exists, and nothing in them is left open."""

import configparser
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from grandstand.host.settings import Settings, setting_names

ROOT = Path(__file__).resolve().parents[2]
_UNIT = ROOT / "packaging" / "systemd" / "grandstand.service"
_FILES = ("Containerfile", "compose.yaml", "packaging/systemd/grandstand.service")
_PINNED = re.compile(r"[a-z0-9-]+(/[a-z0-9-]+)?:\d+\.\d+\.\d+[\w.-]*")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    return found


def _container() -> str:
    return (ROOT / "Containerfile").read_text(encoding="utf-8")


def _unit(text: str) -> configparser.ConfigParser:
    read = configparser.ConfigParser(strict=False, interpolation=None)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read_string(text)
    return read


@pytest.mark.parametrize("file", _FILES)
def test_every_setting_a_file_names_exists(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")

    named = set(re.findall(r"\bGRANDSTAND_(?!NAME\b)[A-Z_]+", text))

    assert named
    assert named - set(setting_names().values()) == set()


def test_the_settings_of_compose_can_be_followed(
    compose: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = compose["services"]["grandstand"]["environment"]
    for name in filter(lambda name: name.startswith("GRANDSTAND_"), given):
        monkeypatch.setenv(name, given[name])

    settings = Settings()

    assert settings.tables == "dynamodb:http://dynamodb:8000"
    assert settings.series.get_secret_value().startswith("postgresql://grandstand:")
    assert settings.server.port == 8700


def _requirements() -> list[Requirement]:
    """Return every requirement in pyproject.toml, the build system's included."""
    read = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = read["project"]
    lines = [*read["build-system"]["requires"], *project["dependencies"]]
    lines += [line for extra in project["optional-dependencies"].values() for line in extra]
    return [Requirement(line) for line in lines]


def test_every_dependency_has_a_lower_and_an_upper_bound() -> None:
    unbounded = [
        str(each)
        for each in _requirements()
        if each.name != "grandstand"
        and sorted(bound.operator for bound in each.specifier) != ["<", ">="]
    ]

    assert unbounded == []


@pytest.mark.parametrize("level", ["run", "test", "peers"])
def test_pins_are_within_the_bounds_of_pyproject(level: str) -> None:
    text = (ROOT / "requirements" / f"{level}.txt").read_text(encoding="utf-8")
    bounds = {each.name: each.specifier for each in _requirements()}

    pins = re.findall(r"^([a-z0-9-]+)(?:\[[a-z,]+\])?==([^ ;]+)", text, re.MULTILINE)
    outside = [
        f"{name}=={version}"
        for name, version in pins
        if name in bounds and Version(version) not in bounds[name]
    ]

    assert len(pins) > 50
    assert outside == []


def test_images_are_pinned_by_version_and_name_no_registry(compose: dict[str, Any]) -> None:
    images = [each["image"] for each in compose["services"].values()]
    images += re.findall(r"^FROM (\S+)", _container(), re.MULTILINE)

    assert len(images) == 5
    assert [image for image in images if not _PINNED.fullmatch(image)] == []


def test_compose_calls_the_image_by_the_version_of_the_project(compose: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert compose["services"]["grandstand"]["image"] == f"grandstand:{project['version']}"


def test_compose_opens_ports_on_this_machine_alone_and_keeps_data_in_its_volumes(
    compose: dict[str, Any],
) -> None:
    services = compose["services"]

    ports = [port for each in services.values() for port in each.get("ports", ())]
    kept = {volume.partition(":")[0] for each in services.values() for volume in each["volumes"]}
    waited = services["grandstand"]["depends_on"]

    assert ports == ["127.0.0.1:8700:8700"]
    assert kept == set(compose["volumes"])
    assert set(waited) == set(services) - {"grandstand"}
    assert "healthcheck" in services["timescale"]


def test_no_password_stands_in_compose(compose: dict[str, Any]) -> None:
    given = compose["services"]["timescale"]["environment"]

    assert given["POSTGRES_PASSWORD"].startswith("${TIMESCALE_PASSWORD:?")


def test_what_is_copied_into_the_image_exists_and_is_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", _container(), re.MULTILINE)

    copied = [word for line in lines for word in line.split()]

    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert [name for name in copied if f"!{name}" not in ignored] == []


def test_the_service_runs_a_command_there_is_and_gives_up_on_settings_that_make_no_sense() -> None:
    service = _unit(_UNIT.read_text(encoding="utf-8"))["Service"]

    assert service["ExecStart"] == "/opt/grandstand/.venv/bin/grandstand up"
    assert service["RestartPreventExitStatus"] == "78"
    assert service["ProtectSystem"] == "strict"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not on this machine")
def test_systemd_understands_every_line_of_the_service(tmp_path: Path) -> None:
    text = _UNIT.read_text(encoding="utf-8")
    copy = tmp_path / _UNIT.name
    copy.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", text, flags=re.MULTILINE))

    told = subprocess.run(
        [shutil.which("systemd-analyze") or "", "verify", "--man=no", str(copy)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (told.returncode, told.stderr) == (0, "")


def test_the_wheel_holds_pages_and_sheets_and_no_test(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)

    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "out"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )

    [wheel] = (tmp_path / "out").glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        path.relative_to(tmp_path / "src").as_posix()
        for path in (tmp_path / "src").rglob("*")
        if path.is_file()
    }
    assert wanted - held == set()
    assert [name for name in held if name.startswith("tests/")] == []
