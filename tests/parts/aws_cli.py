"""The AWS command line client, in its own virtual environment."""

from functools import partial
from pathlib import Path

from tests.parts.part_cache import PartCache, install_environment, wheel_pins


def find(cache: PartCache) -> Path:
    """Return the path of `aws`. Raises MissingPartError."""
    make = partial(install_environment, "awscli")
    return cache.folder("awscli", [wheel_pins("awscli")], make) / "bin" / "aws"
