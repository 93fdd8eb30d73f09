"""Kept here: how our names are written where others read them."""

from __future__ import annotations


def camel(name: str) -> str:
    """Write a snake_case name in camelCase."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
