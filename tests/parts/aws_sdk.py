"""Amazon's JavaScript client for DynamoDB, and Node.js to run it."""

from pathlib import Path

from tests.parts import node
from tests.parts.part_cache import PartCache, install_npm, npm_pins


def find(cache: PartCache) -> tuple[Path, Path]:
    """Return the path of `node` and the node_modules folder. Raises MissingPartError."""
    found = node.find(cache)

    def make(folder: Path) -> None:
        install_npm("aws-sdk", folder, found.npm)

    folder = cache.folder("aws-sdk", npm_pins("aws-sdk"), make)
    return found.program, folder / "node_modules"
