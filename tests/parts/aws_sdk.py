"""Amazon's JavaScript client of DynamoDB, and the Node that runs it."""

from pathlib import Path

from tests.parts import node
from tests.parts.part_cache import PartCache, install_npm, npm_pins


def find(keeper: PartCache) -> tuple[Path, Path]:
    """The `node` program and the node_modules folder; raises MissingPartError without them."""
    found = node.find(keeper)

    def make(folder: Path) -> None:
        install_npm("aws-sdk", folder, found.npm)

    folder = keeper.kept("aws-sdk", npm_pins("aws-sdk"), make)
    return found.program, folder / "node_modules"
