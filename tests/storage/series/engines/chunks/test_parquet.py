"""A slab is cut by key into row groups, and the rows of each are in order of time."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from grandstand.storage.series.engines.chunks.parquet import GROUP_ROWS, file_schema, write_parquet
from grandstand.storage.series.engines.chunks.sqlite import build_layout
from tests.storage.series.engines.chunks.builders import TICKS

LAYOUT = build_layout(TICKS)
SCHEMA = file_schema(LAYOUT.columns)


def test_a_row_group_has_few_keys_and_its_rows_in_order_of_time(tmp_path: Path) -> None:
    rows = 2 * GROUP_ROWS
    keys = ["a", "b", "c", "d"] * (rows // 4)
    given = pa.table([range(rows), keys, [1] * rows, [True] * rows, [2] * rows], schema=SCHEMA)

    write_parquet(tmp_path / "compressed", LAYOUT, [given])
    file = pq.ParquetFile(tmp_path / "compressed")
    groups = [file.read_row_group(number) for number in range(file.num_row_groups)]

    assert [group["who"].unique().to_pylist() for group in groups] == [["a", "b"], ["c", "d"]]
    assert [group["at"].to_pylist() for group in groups] == [
        [at for at in range(rows) if at % 4 < 2],
        [at for at in range(rows) if at % 4 >= 2],
    ]


def test_rows_of_one_moment_stay_in_their_order(tmp_path: Path) -> None:
    keys = ["a", "b", "b", "c", "a"]
    given = pa.table([[7, 7, 7, 7, 8], keys, [1, 1, 2, 1, 1], [True] * 5, [2] * 5], schema=SCHEMA)

    write_parquet(tmp_path / "compressed", LAYOUT, [given])
    stored = pq.read_table(tmp_path / "compressed")

    assert stored.to_pydict() == given.to_pydict()
