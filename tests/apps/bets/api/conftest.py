"""One platform for all tests of the routes of bets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.apps.bets.api.server import BetsServer, serve_bets


@pytest.fixture(scope="package")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BetsServer]:
    with serve_bets(tmp_path_factory.mktemp("bets")) as running:
        yield running
