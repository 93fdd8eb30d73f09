"""Kept here: what comes out wrong on request, where and how often; each outsider knows its ways."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

import msgspec

W = TypeVar("W", bound=str)


class Blemish(msgspec.Struct, Generic[W], frozen=True, forbid_unknown_fields=True):
    """What is wrong, where (a path's beginning), and how many times; None never ends."""

    wrong: W
    path: str = "/"
    times: int | None = None


@dataclass
class Blemishes(Generic[W]):
    """What is wrong at present."""

    asked: list[Blemish[W]] = field(default_factory=list)
    _left: dict[int, int] = field(default_factory=dict)

    def ask_for(self, *blemishes: Blemish[W]) -> None:
        """Let answers come out so from now on, in place of what was asked for before."""
        self.asked = [*blemishes]
        self._left = {at: one.times for at, one in enumerate(blemishes) if one.times is not None}

    def strike(self, path: str) -> W | None:
        """Answer what is wrong with the answer asked for now, None if nothing is."""
        for at, blemish in enumerate(self.asked):
            if path.startswith(blemish.path) and self._left.get(at) != 0:
                if at in self._left:
                    self._left[at] -= 1
                return blemish.wrong
        return None
