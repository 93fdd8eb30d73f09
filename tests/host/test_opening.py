"""The engines are opened as the settings say."""

from contextlib import closing

import pytest
from pydantic import SecretStr

from grandstand.apps.gatherer.store import DELTAS
from grandstand.core.clock import SystemClock
from grandstand.core.errors import InvalidInput
from grandstand.host.infrastructure import open_engine, open_series
from grandstand.host.settings import Settings
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from grandstand.storage.series.errors import SeriesUnavailable


@pytest.mark.parametrize(("wide", "segments"), [(False, "'ticker'"), (True, "''")])
def test_a_wide_universe_is_compressed_without_segments(
    postgres_dsn: str, segments: str, *, wide: bool
) -> None:
    settings = Settings(series=SecretStr(postgres_dsn), series_wide=wide)

    with closing(open_series(settings)) as engine:
        assert isinstance(engine, PostgresEngine)
        engine.edition = "timescale"
        (compression,) = (step for step in engine.pending(DELTAS) if step.name == "compression")

    assert f"compress_segmentby = {segments}" in compression.sql


def test_a_place_that_is_none_is_refused_without_telling_it() -> None:
    settings = Settings(series=SecretStr("secret place"))

    with pytest.raises(InvalidInput, match="series is invalid") as refused:
        open_series(settings)

    assert "secret" not in str(refused.value)


def test_dynamodb_without_a_region_is_in_the_one_amazons_own_settings_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    settings = Settings(tables="dynamodb")

    with pytest.raises(InvalidInput, match="No AWS region is configured"):
        open_engine(settings, SystemClock())
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    engine = open_engine(settings, SystemClock())
    engine.close()

    assert engine.remote


def test_lazy_series_open_while_the_server_is_unreachable() -> None:
    settings = Settings(series=SecretStr("host=/nonexistent dbname=none"))

    with closing(open_series(settings, lazy=True)) as engine, pytest.raises(SeriesUnavailable):
        engine.prepare(DELTAS)
    with pytest.raises(SeriesUnavailable):
        open_series(settings)
