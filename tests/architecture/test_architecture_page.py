"""ARCHITECTURE.md draws and lists what the code contains."""

import re
import tomllib
from typing import Any

import pytest

from tests.architecture.tree import ROOT, SOURCE

_TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def _contract(name: str) -> list[str]:
    """Return the layers of an import contract, from the top."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts: list[dict[str, Any]] = project["tool"]["importlinter"]["contracts"]
    layers: list[str] = next(each["layers"] for each in contracts if each["id"] == name)
    return layers


def _diagram(document: str) -> list[str]:
    text = (ROOT / document).read_text(encoding="utf-8")
    blocks = re.findall(r"```\n(__main__\n.*?)```", text, re.DOTALL)
    assert len(blocks) == 1, document
    lines: list[str] = blocks[0].splitlines()
    return lines


def _names(line: str) -> str:
    return re.split(r"\s{2,}", line)[0].strip()


def _description(line: str) -> str:
    return re.split(r"\s{2,}", line)[-1].strip()


def _rows(heading: str) -> list[str]:
    """Return the first cells of the table under a heading."""
    section = _TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| (`.+?`) \|", section, re.MULTILINE)


def test_diagram_has_the_layers_of_the_contract() -> None:
    drawn = [_names(line) for line in _diagram("ARCHITECTURE.md")]

    assert drawn == _contract("layers")


def test_diagram_has_every_package() -> None:
    drawn = {name for line in _diagram("ARCHITECTURE.md") for name in _names(line).split(" | ")}

    packages = {
        path.stem
        for path in SOURCE.iterdir()
        if (path.suffix == ".py" or (path / "__init__.py").is_file()) and path.stem != "__init__"
    }
    assert drawn == packages


def test_diagram_lists_the_modules_of_core() -> None:
    line = _diagram("ARCHITECTURE.md")[-1]

    modules = {path.stem for path in (SOURCE / "core").glob("*.py")} - {"__init__"}

    assert set(_description(line).split(", ")) == modules


def test_every_layer_is_described() -> None:
    layers = [name for line in _contract("layers")[1:] for name in line.split(" | ")]

    assert _rows("Layers") == [f"`{name}`" for name in layers]


def test_app_modules_listed_are_those_of_the_contract() -> None:
    listed = [name.strip("`") for row in _rows("An app") for name in row.split(", ")]
    contract = [name.strip("()") for line in _contract("app-layers") for name in line.split(" | ")]

    assert listed == contract


def test_readme_has_the_same_diagram() -> None:
    assert _diagram("README.md") == _diagram("ARCHITECTURE.md")


def test_every_other_test_folder_is_described() -> None:
    section = _TEXT.partition("\n## Tests and benchmarks\n")[2]
    layers = {path.name for path in SOURCE.iterdir()}
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}

    named = set(re.findall(r"`(\w+)/`", section)) - {"tests", "src"}

    assert named == {name for name in folders - layers if not name.startswith(("__", "."))}


@pytest.mark.parametrize("name", re.findall(r"`([a-z]+(?:[./]\w+)+)`", _TEXT))
def test_every_module_named_exists(name: str) -> None:
    path = name.removesuffix(".py").replace(".", "/") if "/" not in name else name
    places = [
        ROOT / path,
        SOURCE / path,
        SOURCE / f"{path}.py",
        ROOT / name,
        *SOURCE.glob(f"**/{name}"),
    ]

    assert [place for place in places if place.exists()]
