"""The AWS command line client, in an environment of its own."""

from functools import partial
from pathlib import Path

from tests.parts.part_cache import PartCache, install_environment, wheel_pins


def find(keeper: PartCache) -> Path:
    """The `aws` program; raises MissingPartError when it cannot be had."""
    make = partial(install_environment, "awscli")
    return keeper.kept("awscli", [wheel_pins("awscli")], make) / "bin" / "aws"
