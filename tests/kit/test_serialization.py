"""Values of ours become plain JSON under the names of their tables."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from grandstand.kit.auth.personal_data import to_jsonable


@dataclass(frozen=True, slots=True)
class Thing:
    """Something with fields of each kind."""

    made_at: datetime
    tags: frozenset[str]
    parts: tuple[Decimal, ...] = ()
    short: int = field(default=1, metadata={"attribute": "s"})
    note: str | None = None


def test_a_value_is_written_with_what_is_in_it_and_without_what_is_not() -> None:
    made = Thing(datetime(2026, 11, 16, 12, tzinfo=UTC), frozenset({"b", "a"}), (Decimal("1.5"),))

    assert to_jsonable([made]) == [
        {"madeAt": "2026-11-16T12:00:00.000Z", "tags": ["a", "b"], "parts": [1.5], "s": 1}
    ]


def test_what_a_mapping_holds_is_plain_under_its_own_names() -> None:
    assert to_jsonable({"recent_form": Decimal("0.5")}) == {"recent_form": 0.5}
