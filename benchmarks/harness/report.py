"""Results as one object for programs and as a table for people."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.harness.rows import Row


@dataclass(frozen=True)
class Result:
    """The rows of one benchmark, with when and where they were measured."""

    bench: str
    date: str
    machine: dict[str, str | int]
    rows: Sequence[Row]

    def as_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {
            "bench": self.bench,
            "date": self.date,
            "machine": self.machine,
            "results": [
                {
                    "measure": row.measure,
                    "unit": row.unit,
                    "ours": row.ours,
                    "peers": dict(row.peers),
                    "ratios": row.ratios,
                    "aim": row.aim_shown,
                    "met": row.met,
                }
                for row in self.rows
            ],
        }

    def show(self, console: Console) -> None:
        """Prints the table a person reads."""
        console.print(f"[bold]{self.bench}[/], {self.date}", highlight=False)
        table = Table(box=None, header_style="bold", pad_edge=False)
        table.add_column("measure")
        table.add_column("ours", justify="right", no_wrap=True)
        table.add_column("beside", justify="left")
        table.add_column("aim")
        table.add_column("met", no_wrap=True)
        for row in self.rows:
            table.add_row(*_cells(row))
        console.print(table)
        console.print(_described(self.machine), style="dim", highlight=False)


def _cells(row: Row) -> list[str]:
    theirs = [
        f"{_number(row.ratios[name])}× {name} ({_number(value)})"
        for name, value in row.peers.items()
    ]
    verdict = "" if row.aim is None else "yes" if row.met else "[bold red]no[/]"
    ours = f"{_number(row.ours)} {row.unit}"
    return [row.measure, ours, "\n".join(theirs), row.aim_shown or "", verdict]


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _described(machine: dict[str, str | int]) -> str:
    return ", ".join(f"{name} {value}" for name, value in machine.items())
