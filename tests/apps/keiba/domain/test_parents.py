"""A pedigree and the profiles of two parents become one value."""

from decimal import Decimal

from grandstand.apps.keiba.domain.horses import (
    Ancestor,
    HorseProfile,
    Parent,
    Parents,
    Pedigree,
    parents_of,
)

PEDIGREE = Pedigree(
    "2024100001", (Ancestor("S", "2010100007", "オオゾラ"), Ancestor("D", "000a00033a", "Harbour"))
)
SIRE = HorseProfile(
    "2010100007",
    "オオゾラ",
    earnings=Decimal(100),
    earnings_central=Decimal(90),
    earnings_local=Decimal(10),
    first=8,
    second=3,
    third=1,
    fourth_or_lower=4,
)


def test_a_parent_has_its_record_where_its_profile_is_known() -> None:
    assert parents_of(PEDIGREE, SIRE) == Parents(
        "2024100001",
        Parent("2010100007", "オオゾラ", Decimal(100), 8, 3, 1, 4, Decimal(90), Decimal(10)),
        Parent("000a00033a", "Harbour"),
    )


def test_a_parent_that_is_not_named_is_unknown() -> None:
    assert parents_of(Pedigree("2024100001", PEDIGREE.ancestors[:1])).dam == Parent()
