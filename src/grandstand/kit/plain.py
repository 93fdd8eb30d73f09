"""Kept here: values of ours as JSON has them, for whoever takes them along."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from decimal import Decimal
from typing import Any

from grandstand.base.names import camel


def plain(value: Any) -> Any:  # noqa: ANN401 - any value of ours
    """Answer a value as JSON has it, under the names tables give its fields; None is left out."""
    if dataclasses.is_dataclass(value):
        kept = {_name(each): getattr(value, each.name) for each in dataclasses.fields(value)}
        return {name: plain(each) for name, each in kept.items() if each is not None}
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return float(value) if isinstance(value, Decimal) else value


def _name(field: dataclasses.Field[Any]) -> str:
    return str(field.metadata.get("attribute") or camel(field.name))
