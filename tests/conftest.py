"""Fixtures for the real servers and tools the tests use."""

import gc
import os
import signal
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn, TypeVar

import hypothesis
import pytest

from tests.parts import aws_cli, aws_sdk, axe, chromium, postgres
from tests.parts import dynamodb_local as local
from tests.parts.environment import in_ci, state_folder, tidy_environment
from tests.parts.part_cache import MissingPartError, PartCache
from tests.parts.run_folder import run_folder

Found = TypeVar("Found")

_MISSING = pytest.StashKey[dict[str, MissingPartError]]()


def pytest_configure(config: pytest.Config) -> None:
    tidy_environment()
    config.stash[_MISSING] = {}
    _configure_hypothesis(config)
    # A shell starts background jobs with SIGINT ignored; TERM and HUP would skip fixtures' ends.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)


def pytest_collection_finish() -> None:
    # Loaded modules are never garbage; scanning them again and again took a tenth of the time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> Iterator[None]:
    yield
    missing = config.stash[_MISSING]
    if missing:
        terminalreporter.section("missing parts", yellow=True)
    for error in missing.values():
        terminalreporter.line(f"{error.part}: its tests did not run: {error.why}")
        terminalreporter.line(f"    to install it: {error.command}")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def part_folder() -> Iterator[Path]:
    """The folder for the files of this run's servers."""
    with run_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def dynamodb_local(request: pytest.FixtureRequest, part_folder: Path) -> Iterator[str]:
    """The endpoint of a running DynamoDB Local."""
    program = _find(request, local.find)
    try:
        with local.serving(program, part_folder) as endpoint:
            yield endpoint
    except MissingPartError as error:
        _skip_or_fail(request, error)


@pytest.fixture(scope="session")
def postgres_dsn(request: pytest.FixtureRequest, part_folder: Path) -> Iterator[str]:
    """The connection string of a running PostgreSQL."""
    found = _find(request, postgres.find)
    try:
        with postgres.serving(found, part_folder) as dsn:
            yield dsn
    except MissingPartError as error:
        _skip_or_fail(request, error)


@pytest.fixture(scope="session", name="chromium")
def chromium_program(request: pytest.FixtureRequest) -> Path:
    """The path of a Chromium."""
    return _find(request, chromium.find)


@pytest.fixture(scope="session", name="axe")
def axe_script(request: pytest.FixtureRequest) -> Path:
    """The path of axe-core's script."""
    return _find(request, axe.find)


@pytest.fixture(scope="session", name="aws_cli")
def aws_cli_program(request: pytest.FixtureRequest) -> Path:
    """The path of the AWS command line client."""
    return _find(request, aws_cli.find)


@pytest.fixture(scope="session")
def node_sdk(request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """The path of node and of a node_modules folder with Amazon's DynamoDB client."""
    return _find(request, aws_sdk.find)


def _configure_hypothesis(config: pytest.Config) -> None:
    """Use the same examples in every run, without deadlines.

    `./test --hypothesis-profile=default` searches for others.
    """
    hypothesis.configuration.set_hypothesis_home_dir(state_folder() / "hypothesis")
    slow = (hypothesis.HealthCheck.too_slow,)
    hypothesis.settings.register_profile(
        "repeatable", deadline=None, derandomize=True, suppress_health_check=slow
    )
    if config.getoption("--hypothesis-profile") is None:
        hypothesis.settings.load_profile("repeatable")


def _find(request: pytest.FixtureRequest, find: Callable[[PartCache], Found]) -> Found:
    try:
        return find(PartCache(may_fetch=False))
    except MissingPartError as error:
        _skip_or_fail(request, error)


def _skip_or_fail(request: pytest.FixtureRequest, error: MissingPartError) -> NoReturn:
    request.config.stash[_MISSING][error.part] = error
    if in_ci(os.environ):
        pytest.fail(str(error), pytrace=False)
    pytest.skip(str(error))


def _interrupt(signum: int, _frame: types.FrameType | None) -> NoReturn:
    raise KeyboardInterrupt(signal.Signals(signum).name)
