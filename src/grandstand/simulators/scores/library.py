"""Kept here: the tapes that come with the simulator, by their names."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from grandstand.simulators.scores.course import Course
from grandstand.simulators.scores.cricsheet import parse_tape
from grandstand.simulators.scores.errors import TapeUnknown
from grandstand.simulators.scores.generated import FORMATS, generate
from grandstand.simulators.scores.tape import Tape

_FOLDER: Final = Path(__file__).parent / "tapes"
REAL: Final = (1001349, 1370353, 1178424, 1000853)


@lru_cache(maxsize=8)
def read_tape(number: int) -> Tape:
    """Answer one of the real matches; raise TapeUnknown when there is none of that number."""
    path = _FOLDER / f"{number}.json"
    if number not in REAL or not path.is_file():
        raise TapeUnknown(str(number))
    return parse_tape(number, path.read_bytes())


def find_tape(name: str) -> Tape:
    """Answer a match by its name: the number of a real one, or `generated:SEED`.

    A generated one may be followed by its wishes: `generated:7:ODI`, `generated:7:T20:tie`. Raises
    TapeUnknown.
    """
    kind, _, rest = name.partition(":")
    if kind == "generated":
        seed, _, wishes = rest.partition(":")
        form, _, tie = wishes.partition(":")
        if seed.isdecimal() and (form or "T20") in FORMATS and tie in {"", "tie"}:
            return generate(int(seed), form or "T20", tie=bool(tie))
    elif name.isdecimal():
        return read_tape(int(name))
    raise TapeUnknown(name)


def find_course(number: int) -> Course | None:
    """Answer how a match went on the clock, where it is known to be out of the ordinary."""
    return _courses().get(str(number))


@lru_cache(maxsize=1)
def _courses() -> dict[str, Course]:
    content = (_FOLDER / "courses.json").read_bytes()
    return msgspec.json.decode(content, type=dict[str, Course])
