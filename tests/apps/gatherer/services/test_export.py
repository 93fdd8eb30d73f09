"""What was recorded, given to others."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from grandstand.apps.gatherer.services.recordings import (
    ExportRange,
    ExportService,
)
from grandstand.core.errors import InvalidInput
from tests.apps.gatherer.services.conftest import Opener
from tests.apps.gatherer.services.recorded_rows import START, recorded, truth

pytestmark = pytest.mark.anyio


async def test_a_part_of_a_series_becomes_a_file(place: Opener, tmp_path: Path) -> None:
    recording = recorded(truth(1, 60))
    engine = place("own")
    recording.keep(engine)
    part = ExportRange("orderbook_deltas", START, 2**62, ("KXA-1",))
    file = tmp_path / "deltas.parquet"

    written = await ExportService(engine).write(part, file, "parquet")
    table = await ExportService(engine).table(part)

    mine = [each for each in recording.deltas if each.ticker == "KXA-1"]
    assert written == table.num_rows == len(mine)
    assert pq.read_table(file)["size_delta"].to_pylist() == table["size_delta"].to_pylist()


async def test_a_series_nobody_knows_is_refused(place: Opener, tmp_path: Path) -> None:
    exporting = ExportService(place("own"))

    with pytest.raises(InvalidInput, match="Use one of: trades"):
        await exporting.write(ExportRange("rumours", 0, 1), tmp_path / "x.csv", "csv")
