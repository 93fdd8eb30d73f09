"""What ARCHITECTURE.md draws and lists is what the code is."""

import re
import tomllib
from typing import Any

import pytest

from tests.architecture.tree import ROOT, SOURCE

_TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def _contract(name: str) -> list[str]:
    """The layers of an import contract, from the top."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts: list[dict[str, Any]] = project["tool"]["importlinter"]["contracts"]
    layers: list[str] = next(each["layers"] for each in contracts if each["id"] == name)
    return layers


def _drawing(document: str) -> list[str]:
    text = (ROOT / document).read_text(encoding="utf-8")
    blocks = re.findall(r"```\n(__main__\n.*?)```", text, re.DOTALL)
    assert len(blocks) == 1, document
    lines: list[str] = blocks[0].splitlines()
    return lines


def _names(line: str) -> str:
    return re.split(r"\s{2,}", line)[0].strip()


def _told(line: str) -> str:
    return re.split(r"\s{2,}", line)[-1].strip()


def _rows(heading: str) -> list[str]:
    """The first cells of the table under a heading."""
    section = _TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| (`.+?`) \|", section, re.MULTILINE)


def test_the_drawing_has_the_storeys_of_the_contract_from_the_top() -> None:
    drawn = [_names(line) for line in _drawing("ARCHITECTURE.md")]

    assert drawn == _contract("storeys")


def test_every_storey_drawn_is_a_package_or_module_and_none_is_left_out() -> None:
    drawn = {name for line in _drawing("ARCHITECTURE.md") for name in _names(line).split(" | ")}

    there = {
        path.stem
        for path in SOURCE.iterdir()
        if (path.suffix == ".py" or (path / "__init__.py").is_file()) and path.stem != "__init__"
    }
    assert drawn == there


def test_the_ground_is_drawn_with_all_its_modules() -> None:
    line = _drawing("ARCHITECTURE.md")[-1]

    modules = {path.stem for path in (SOURCE / "base").glob("*.py")} - {"__init__"}

    assert set(_told(line).split(", ")) == modules


def test_every_storey_says_what_belongs_there() -> None:
    storeys = [name for line in _contract("storeys")[1:] for name in line.split(" | ")]

    assert _rows("The storeys") == [f"`{name}`" for name in storeys]


def test_the_rooms_listed_are_those_of_the_contract() -> None:
    listed = [
        name.strip("`") for row in _rows("The rooms of an application") for name in row.split(", ")
    ]
    contracted = [name for line in _contract("rooms") for name in line.split(" | ")]

    assert listed == contracted


def test_the_readme_draws_the_same_house() -> None:
    assert _drawing("README.md") == _drawing("ARCHITECTURE.md")


def test_every_folder_of_tests_that_is_no_storey_is_named() -> None:
    section = _TEXT.partition("\n## Where tests and benchmarks stand\n")[2]
    storeys = {path.name for path in SOURCE.iterdir()}
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}

    named = set(re.findall(r"`(\w+)/`", section)) - {"tests", "src"}

    assert named == {name for name in folders - storeys if not name.startswith(("__", "."))}


@pytest.mark.parametrize("name", re.findall(r"`([a-z]+(?:[./]\w+)+)`", _TEXT))
def test_every_module_the_page_names_exists(name: str) -> None:
    path = name.removesuffix(".py").replace(".", "/") if "/" not in name else name
    places = [
        ROOT / path,
        SOURCE / path,
        SOURCE / f"{path}.py",
        ROOT / name,
        *SOURCE.glob(f"**/{name}"),
    ]

    assert [place for place in places if place.exists()]
