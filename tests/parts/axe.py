"""axe-core, which checks the accessibility of pages."""

from pathlib import Path

from tests.parts import node
from tests.parts.part_cache import PartCache, install_npm, npm_pins


def find(cache: PartCache) -> Path:
    """Return the path of the script. Raises MissingPartError."""

    def make(folder: Path) -> None:
        install_npm("axe", folder, node.find(cache).npm)

    return cache.folder("axe", npm_pins("axe"), make) / "node_modules" / "axe-core" / "axe.min.js"
