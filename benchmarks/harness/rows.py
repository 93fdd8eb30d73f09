"""One measured line: our value, the peers' values, and what we aimed for."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Times:
    """The aim to be at least `factor` times as good as a peer; 0.35 allows us 35 % of it."""

    factor: float
    peer: str

    def met_by(self, row: "Row") -> bool:
        """Whether the ratio to the peer is enough; raises KeyError for a peer not measured."""
        return row.ratios[self.peer] >= self.factor

    def shown_for(self, _row: "Row") -> str:
        """The aim in a few words."""
        return f"≥ {self.factor:g}× {self.peer}"


@dataclass(frozen=True)
class Limit:
    """The aim to reach a value, or to stay below it where lower is better."""

    value: float

    def met_by(self, row: "Row") -> bool:
        """Whether our own value is on the right side of the limit."""
        return row.ours >= self.value if row.higher_is_better else row.ours <= self.value

    def shown_for(self, row: "Row") -> str:
        """The aim in a few words."""
        return f"{'≥' if row.higher_is_better else '≤'} {self.value:g} {row.unit}"


@dataclass(frozen=True)
class Row:
    """A measure; ratios say how many times better we are, whichever way better lies."""

    measure: str
    unit: str
    ours: float
    peers: Mapping[str, float] = field(default_factory=dict)
    aim: Times | Limit | None = None
    higher_is_better: bool = True

    @property
    def ratios(self) -> dict[str, float]:
        """Ours against each peer; above 1 we are better."""
        if self.higher_is_better:
            return {name: self.ours / theirs for name, theirs in self.peers.items()}
        return {name: theirs / self.ours for name, theirs in self.peers.items()}

    @property
    def met(self) -> bool:
        """Whether the aim is reached; a row without one cannot miss it."""
        return self.aim is None or self.aim.met_by(self)

    @property
    def aim_shown(self) -> str | None:
        """The aim in a few words, or None."""
        return None if self.aim is None else self.aim.shown_for(self)
