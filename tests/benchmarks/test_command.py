"""`./bench` prints its results and nothing else on stdout."""

import json
import os
from collections.abc import Sequence

import pytest

from benchmarks.__main__ import NAMES
from benchmarks.harness.command import Benchmark, main
from benchmarks.harness.rows import Limit, Row, Times
from tests.parts.environment import ROOT


def _noisy(full: bool) -> Sequence[Row]:  # noqa: FBT001
    print("from Python")  # noqa: T201
    os.system("echo from a child")  # noqa: S605, S607
    curve = [Row("curve", "s", 1.0)] * full
    return [
        Row("put", "items/s", 200.0, {"peer": 100.0}, Times(3.0, "peer")),
        Row("open", "ms", 20.0, {}, Limit(30.0), higher_is_better=False),
        *curve,
    ]


_BENCHMARKS: dict[str, Benchmark] = {"noisy": _noisy, "again": _noisy}


def test_json_of_one_benchmark_is_one_object_and_nothing_else(
    capfd: pytest.CaptureFixture[str],
) -> None:
    code = main(["noisy", "--json"], _BENCHMARKS)

    out, err = capfd.readouterr()
    said = json.loads(out)
    assert code == 0
    assert said["results"] == [
        {
            "measure": "put",
            "unit": "items/s",
            "ours": 200.0,
            "peers": {"peer": 100.0},
            "ratios": {"peer": 2.0},
            "aim": "≥ 3× peer",
            "met": False,
        },
        {
            "measure": "open",
            "unit": "ms",
            "ours": 20.0,
            "peers": {},
            "ratios": {},
            "aim": "≤ 30 ms",
            "met": True,
        },
    ]
    assert said.keys() == {"bench", "date", "machine", "results"}
    assert said["machine"].keys() == {"cpu", "cores", "memory_mb", "python", "sqlite", "kernel"}
    assert "from a child" in err


def test_json_of_all_benchmarks_is_a_list(capfd: pytest.CaptureFixture[str]) -> None:
    main(["all", "--json"], _BENCHMARKS)

    said = json.loads(capfd.readouterr().out)
    assert [result["bench"] for result in said] == ["noisy", "again"]


def test_the_long_curves_come_only_when_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    main(["noisy", "--json", "--full"], _BENCHMARKS)

    said = json.loads(capfd.readouterr().out)
    assert [row["measure"] for row in said["results"]] == ["put", "open", "curve"]


def test_people_get_a_table_with_peers_ratios_and_verdicts(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")

    main(["noisy"], _BENCHMARKS)

    table = capfd.readouterr().out
    assert "2× peer (100)" in table
    assert "≥ 3× peer" in table
    assert "no" in table.split("≥ 3× peer")[1].splitlines()[0]


def test_a_name_that_is_no_benchmark_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["nothing"], _BENCHMARKS)

    assert stopped.value.code == 2
    assert "nothing" in capfd.readouterr().err


def test_every_benchmark_on_the_list_is_a_module_or_a_package() -> None:
    folder = ROOT / "benchmarks"
    modules = {path.stem for path in folder.glob("*.py")}
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}

    assert set(NAMES) - modules - packages == set()
