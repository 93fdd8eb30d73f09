"""Deque's axe-core: the script that looks for barriers in a page."""

from pathlib import Path

from tests.parts import node
from tests.parts.part_cache import PartCache, install_npm, npm_pins


def find(keeper: PartCache) -> Path:
    """The path of the script; raises MissingPartError without it."""

    def make(folder: Path) -> None:
        install_npm("axe", folder, node.find(keeper).npm)

    return keeper.kept("axe", npm_pins("axe"), make) / "node_modules" / "axe-core" / "axe.min.js"
