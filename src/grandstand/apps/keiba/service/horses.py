"""Kept here: everything about one horse."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from grandstand.apps.keiba.model.background import record_of
from grandstand.apps.keiba.service.cache.library import Library
from grandstand.apps.keiba.service.values import Horse, Sourced
from grandstand.base.errors import GrandstandError

T = TypeVar("T")


async def read_horse(library: Library, horse_id: str, *, anew: bool) -> Horse:
    """Answer a horse; raises when its profile cannot be had, the rest may be missing."""
    profile = await library.profile(horse_id, anew=anew)
    name = profile.value.horse_name
    warnings = list(profile.warnings)

    async def had(what: str, asked: Awaitable[Sourced[T]]) -> Sourced[T] | None:
        try:
            found = await asked
        except GrandstandError as fault:
            warnings.append(f"{what}: {fault}")
            return None
        warnings.extend(found.warnings)
        return found

    form = await had("Earlier races are missing", library.results(horse_id, name, anew=anew))
    pedigree = await had("The pedigree is missing", library.pedigree(horse_id, anew=anew))
    parents = None
    if pedigree is not None:
        parents = await had("The parents are missing", library.parents(horse_id))
    runs = () if form is None else form.value.recent_results
    return Horse(
        horse_id=horse_id,
        name=name,
        profile=profile,
        form=form,
        parents=parents,
        pedigree=pedigree,
        career=record_of(runs),
        warnings=tuple(dict.fromkeys(warnings)),
    )
