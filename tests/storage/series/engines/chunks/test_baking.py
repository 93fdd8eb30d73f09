"""A slab is cut by key into row groups, and the rows of each are in order of time."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from grandstand.storage.series.engines.chunks.arrow import file_schema
from grandstand.storage.series.engines.chunks.baking import GROUP_ROWS, bake
from grandstand.storage.series.engines.chunks.layout import laid_out
from tests.storage.series.engines.chunks.making import TICKS

LAYOUT = laid_out(TICKS)
SCHEMA = file_schema(LAYOUT.columns)


def test_a_row_group_has_few_keys_and_its_rows_in_order_of_time(tmp_path: Path) -> None:
    rows = 2 * GROUP_ROWS
    keys = ["a", "b", "c", "d"] * (rows // 4)
    given = pa.table([range(rows), keys, [1] * rows, [True] * rows, [2] * rows], schema=SCHEMA)

    bake(tmp_path / "baked", LAYOUT, [given])
    file = pq.ParquetFile(tmp_path / "baked")
    groups = [file.read_row_group(number) for number in range(file.num_row_groups)]

    assert [group["who"].unique().to_pylist() for group in groups] == [["a", "b"], ["c", "d"]]
    assert [group["at"].to_pylist() for group in groups] == [
        [at for at in range(rows) if at % 4 < 2],
        [at for at in range(rows) if at % 4 >= 2],
    ]


def test_rows_of_one_moment_stay_in_their_order(tmp_path: Path) -> None:
    keys = ["a", "b", "b", "c", "a"]
    given = pa.table([[7, 7, 7, 7, 8], keys, [1, 1, 2, 1, 1], [True] * 5, [2] * 5], schema=SCHEMA)

    bake(tmp_path / "baked", LAYOUT, [given])
    kept = pq.read_table(tmp_path / "baked")

    assert kept.to_pydict() == given.to_pydict()
