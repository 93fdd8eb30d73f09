"""That a file of facts is read strictly: exact numbers, no unknown, missing or doubled names."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest

from tests.specification.fact_files import FactsMalformed, read


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Whole:
    title: str
    parts: tuple[Part, ...] = ()
    item: dict[str, object] | None = None
    amount: Decimal | None = None
    ready: bool = False


def whole(folder: Path, text: str) -> Whole:
    file = folder / "facts.json"
    file.write_text(text, encoding="utf-8")
    return read(Whole, file)


def test_nested_facts_become_frozen_values(tmp_path: Path) -> None:
    found = whole(tmp_path, '{"title": "a", "parts": [{"name": "b", "size": 3}], "ready": true}')

    assert found == Whole(title="a", parts=(Part(name="b", size=3),), ready=True)


def test_numbers_keep_their_digits(tmp_path: Path) -> None:
    found = whole(tmp_path, '{"title": "a", "amount": 0.1, "item": {"stake": 15.50, "odds": -150}}')

    assert found.amount == Decimal("0.1")
    assert str(found.item) == "{'stake': Decimal('15.50'), 'odds': Decimal('-150')}"


def test_null_is_none_and_absence_is_the_default(tmp_path: Path) -> None:
    found = whole(tmp_path, '{"title": "a", "item": null}')

    assert found == Whole(title="a")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"title": "a", "colour": "red"}', "Whole has no colour"),
        ("{}", "Whole needs title"),
        ('{"title": "a", "title": "b"}', "named twice in one object: title"),
        ('{"title": 1}', "facts.json.title: expected"),
        ('{"title": "a", "ready": 1}', "facts.json.ready: expected"),
        ('{"title": "a", "parts": {}}', "facts.json.parts: expected a list"),
        ('{"title": "a", "parts": ["b"]}', r"facts.json.parts\[0\]: expected the fields of Part"),
        ('{"title": "a", "parts": [{"name": "b", "size": 1.5}]}', r"parts\[0\].size: expected"),
        ('{"title": "a", "amount": NaN}', "NaN is not a number"),
        ('{"title": null}', "facts.json.title: expected"),
    ],
)
def test_a_malformed_file_is_refused_with_the_place(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(FactsMalformed, match=complaint):
        whole(tmp_path, text)
