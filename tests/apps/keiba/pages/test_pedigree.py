"""Five generations stand in a table as on paper, and who is met twice is found."""

from itertools import product

from grandstand.apps.keiba.domain.horses import Ancestor, Pedigree
from grandstand.apps.keiba.pages.horses import Cross, find_crosses, pedigree_rows

PATHS = ["".join(steps) for depth in range(1, 6) for steps in product("SD", repeat=depth)]


def _pedigree(**ids: str) -> Pedigree:
    """Everybody once, but the paths given lead to the ids given."""
    return Pedigree(
        "2022100001",
        tuple(
            Ancestor(path, ids.get(path, f"{at:010}"), f"Horse {ids.get(path, at)}")
            for at, path in enumerate(PATHS)
        ),
    )


def test_every_ancestor_stands_once_over_as_many_rows_as_it_has_children_of_the_last() -> None:
    rows = pedigree_rows(_pedigree())

    cells = [kin for row in rows for kin in row]
    assert len(rows) == 32
    assert sorted(kin.path for kin in cells) == sorted(PATHS)
    assert {kin.path: kin.rows for kin in cells if kin.path in ("S", "DD", "SSSSS")} == {
        "S": 16,
        "DD": 8,
        "SSSSS": 1,
    }


def test_a_row_begins_with_the_nearest_ancestor_and_the_dam_in_the_middle() -> None:
    rows = pedigree_rows(_pedigree())

    assert [kin.path for kin in rows[0]] == ["S", "SS", "SSS", "SSSS", "SSSSS"]
    assert [kin.path for kin in rows[16]] == ["D", "DS", "DSS", "DSSS", "DSSSS"]
    assert [kin.path for kin in rows[31]] == ["DDDDD"]


def test_who_is_met_twice_is_named_with_its_generations() -> None:
    pedigree = _pedigree(SSS="000a000001", DDSS="000a000001")

    found = find_crosses(pedigree)
    marked = {kin.path for row in pedigree_rows(pedigree) for kin in row if kin.cross}

    assert found == (Cross("000a000001", "Horse 000a000001", "3 × 4"),)
    assert marked == {"SSS", "DDSS"}


def test_the_parents_of_one_met_twice_are_no_news() -> None:
    both = {"SSS": "x", "DDS": "x", "SSSS": "y", "DDSS": "y"}

    found = find_crosses(_pedigree(**both))

    assert [cross.id for cross in found] == ["x"]


def test_a_pedigree_with_gaps_has_empty_cells_and_no_crosses() -> None:
    gaps = Pedigree("2022100001", (Ancestor("S", None, "Sire"), Ancestor("D", None, "Dam")))

    rows = pedigree_rows(gaps)

    assert find_crosses(gaps) == ()
    assert [kin.ancestor is None for kin in rows[0]] == [False, True, True, True, True]
