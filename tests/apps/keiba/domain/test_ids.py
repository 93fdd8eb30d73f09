"""Ids say what they are made of, and nothing else passes for one."""

from datetime import date

import pytest

from grandstand.apps.keiba.domain import ids
from grandstand.apps.keiba.domain.ids import Circuit, InvalidId


@pytest.mark.parametrize(
    ("race", "circuit", "track", "number"),
    [
        ("202505040601", "jra", "Tokyo", 1),
        ("202510010112", "jra", "Kokura", 12),
        ("202644111503", "nar", "Oi", 3),
        ("202665111503", "nar", "Obihiro", 3),
        ("2026J0010109", "overseas", None, 9),
        ("2025FP010109", "overseas", None, 9),
    ],
)
def test_a_race_is_placed_by_its_id(
    race: str, circuit: Circuit, track: str | None, number: int
) -> None:
    found = ids.track_of(ids.race_id(race))

    assert ids.circuit_of(race) == circuit
    assert (found.english if found else None) == track
    assert ids.number_of(race) == number


def test_only_a_local_race_has_its_date_in_its_id() -> None:
    races = ("202644111503", "202605040601", "2026J0010109", "202644139903")

    assert [ids.date_of(race) for race in races] == [date(2026, 11, 15), None, None, None]


def test_only_a_national_race_has_its_meeting_in_its_id() -> None:
    assert ids.meeting_of("202505040601") == (4, 6)
    assert ids.meeting_of("202644111503") is None


def test_foreign_horses_and_local_jockeys_have_letters() -> None:
    assert ids.horse_id("000a00033a") == "000a00033a"
    assert ids.person_id("a01bb") == "a01bb"


@pytest.mark.parametrize("text", ["", "2024#00001", "2024 00001", "../horse/x", "202410000\uff11"])
def test_what_could_leave_its_key_or_its_path_is_no_id(text: str) -> None:
    for check in (ids.race_id, ids.horse_id, ids.person_id):
        with pytest.raises(InvalidId):
            check(text)
