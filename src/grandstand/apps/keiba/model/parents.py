"""Kept here: how a pedigree and the profiles of two parents become one value."""

from __future__ import annotations

from grandstand.apps.keiba.model.people import Ancestor, HorseProfile, Parent, Parents, Pedigree


def parents_of(pedigree: Pedigree, *profiles: HorseProfile) -> Parents:
    """Answer sire and dam, each with its own record where its profile is given."""
    known = {profile.horse_id: profile for profile in profiles}
    return Parents(pedigree.horse_id, _parent(pedigree.sire, known), _parent(pedigree.dam, known))


def _parent(horse: Ancestor | None, known: dict[str, HorseProfile]) -> Parent:
    if horse is None:
        return Parent()
    profile = known.get(horse.id or "")
    if profile is None:
        return Parent(horse.id, horse.name)
    return Parent(
        horse.id,
        horse.name or profile.horse_name,
        profile.earnings,
        profile.first,
        profile.second,
        profile.third,
        profile.fourth_or_lower,
        profile.earnings_central,
        profile.earnings_local,
    )
