"""The table of benchmarks in README.md: `./bench all --json >FILE`, then this module with FILE.

Benchmarks that were run one by one are given in a file each.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

README = Path(__file__).resolve().parents[2] / "README.md"
BEGIN, END = "<!-- benchmarks -->", "<!-- end of benchmarks -->"

_PLACE = re.compile(rf"{BEGIN}\n.*?{END}", re.DOTALL)
_LARGE = 100


def table_of(benches: Sequence[Mapping[str, Any]]) -> str:
    """The rows with an aim, as Markdown, with when and where they were measured."""
    first = benches[0]
    where = first["machine"]
    measured = f"Measured on {first['date'][:10]} by `./bench --json`: {where['cpu']}"
    size = f"{where['cores']} cores, {round(where['memory_mb'] / 1024)} GB"
    lines = [
        f"{measured}, {size}, Python {where['python']}.",
        "",
        "| | measure | ours | beside | aim | met |",
        "|---|---|---:|---|---|---|",
    ]
    for bench in benches:
        rows = [row for row in bench["results"] if row["aim"] is not None]
        names = [bench["bench"], *[""] * (len(rows) - 1)]
        lines += [_line(name, row) for name, row in zip(names, rows, strict=False)]
    return "\n".join(lines)


def with_table(text: str, table: str) -> str:
    """A page with the table in its place; raises ValueError when it has none."""
    if not _PLACE.search(text):
        raise ValueError(f"there is no {BEGIN} … {END}")
    return _PLACE.sub(lambda _: f"{BEGIN}\n{table}\n{END}", text)


def _line(name: str, row: Mapping[str, Any]) -> str:
    beside = "<br>".join(
        f"{_number(row['ratios'][peer])}× {peer} ({_number(value)})"
        for peer, value in row["peers"].items()
    )
    ours = f"{_number(row['ours'])} {row['unit']}"
    met = "yes" if row["met"] else "**no**"
    return f"| {name} | {row['measure']} | {ours} | {beside} | {row['aim']} | {met} |"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= _LARGE else f"{value:.3g}"


def main(files: Sequence[Path]) -> None:
    """Write the table of files of results into README.md."""
    listed: list[Mapping[str, Any]] = []
    for file in files:
        benches = json.loads(file.read_text(encoding="utf-8"))
        listed += benches if isinstance(benches, list) else [benches]
    text = README.read_text(encoding="utf-8")
    README.write_text(with_table(text, table_of(listed)), encoding="utf-8")


if __name__ == "__main__":
    main([Path(each) for each in sys.argv[1:]])
