"""Kept here: what a race is run for and over: course, class, name and prize money."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from grandstand.simulators.racing.chance import chance
from grandstand.simulators.racing.names import site
from grandstand.simulators.racing.season import Slot
from grandstand.simulators.racing.tracks import Surface

_SHARES: Final = (1.0, 0.4, 0.25, 0.15, 0.1)
_TURF: Final = 0.5
_AGES: Final = {"2": "２歳", "3": "３歳", "4": "４歳以上", "J": "４歳以上"}
_CLASSES: Final = {
    "jra": {"L": "１勝クラス", "M": "２勝クラス", "O": "オープン", "J": "オープン"},
    "nar": {"L": "C", "M": "B", "O": "A"},
}
# In units of ten thousand yen, for the winner.
_FIRST_PRIZES: Final = {
    "jra": {"L": 800, "M": 1550, "O": 2400, "J": 1300},
    "nar": {"L": 120, "M": 250, "O": 700},
}
_DEBUT_PRIZES: Final = {"jra": 720, "nar": 200}
_GRADED: Final = (
    ("GI", 1, 20_000, 0.05),
    ("GII", 2, 6_700, 0.10),
    ("GIII", 3, 4_300, 0.25),
    ("L", 15, 2_800, 0.20),
)


@dataclass(frozen=True, slots=True)
class Conditions:
    """A race's terms; `grade_icon` is the number of the mark beside its name, None without."""

    name: str
    surface: Surface
    metres: int
    age: str
    rank: str
    prizes: tuple[float, ...]
    grade: str | None = None
    grade_icon: int | None = None

    @property
    def graded(self) -> bool:
        """Whether it counts among the graded races."""
        return self.grade is not None and self.grade.startswith("G")

    def prize(self, place: int, sharing: int = 1) -> float:
        """Answer the prize for a place; those in a dead heat share the places they take."""
        taken = [
            self.prizes[at] for at in range(place - 1, place - 1 + sharing) if at < len(self.prizes)
        ]
        return round(sum(taken) / sharing, 1)


def conditions(seed: int, slot: Slot) -> Conditions:
    """Answer the terms of a race."""
    draw = chance(seed, "terms", slot.race_id)
    track, circuit = slot.meeting.track, slot.meeting.circuit
    surface: Surface = "jump" if slot.band == "J" else "dirt"
    if surface == "dirt" and track.turf and draw.random() < _TURF:
        surface = "turf"
    metres = draw.choice(track.distances(surface))
    age, level = _AGES[slot.band[0]], slot.band[-1]
    rank = "新馬" if slot.debut else _CLASSES[circuit]["O" if slot.band == "2M" else level]
    first = _DEBUT_PRIZES[circuit] if slot.debut else _FIRST_PRIZES[circuit][level]
    grade, icon = None, None
    if level == "O" and circuit == "jra":
        luck = draw.random()
        for name, number, prize, share in _GRADED:
            if luck < share:
                grade, icon, first = name, number, prize
                break
            luck -= share
    title = _title(slot, f"{age}{rank}", draw.random())
    prizes = tuple(round(first * share) * 1.0 for share in _SHARES)
    return Conditions(title, surface, metres, f"サラ系{age}", rank, prizes, grade, icon)


def _title(slot: Slot, plain: str, luck: float) -> str:
    if slot.band == "J":
        return f"障害{plain}"
    if slot.band.endswith("O"):
        return f"{site(slot.race_id)}ステークス"
    named = slot.band.endswith("M") and not slot.debut and luck < 0.5  # noqa: PLR2004 - even
    return f"{site(slot.race_id)}特別" if named else plain
