"""A font with Japanese letters, for pictures: few machines have one."""

from functools import partial
from pathlib import Path

from tests.parts.part_cache import PartCache, install_wheels, wheel_pins


def find(keeper: PartCache) -> Path:
    """The data folder a browser finds the font in; raises MissingPartError when there is none."""
    make = partial(install_wheels, "font")
    return keeper.kept("font", [wheel_pins("font")], make) / "matplotlib_fontja"
