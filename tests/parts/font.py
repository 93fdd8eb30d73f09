"""A Japanese font, for screenshots."""

from functools import partial
from pathlib import Path

from tests.parts.part_cache import PartCache, install_wheels, wheel_pins


def find(cache: PartCache) -> Path:
    """Return the data folder in which a browser finds the font. Raises MissingPartError."""
    make = partial(install_wheels, "font")
    return cache.folder("font", [wheel_pins("font")], make) / "matplotlib_fontja"
