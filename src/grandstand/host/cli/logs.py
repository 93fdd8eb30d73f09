"""Kept here: where the logs of a command go, and what must never be in them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from pydantic import BaseModel, SecretStr

from grandstand.base.log import configure
from grandstand.host.settings import LogSettings, Settings


def write_logs(settings: Settings) -> None:
    """Log to the error output from now on, as the settings say, and none of their secrets."""
    told = settings.log
    known = [word for word in _secrets(settings) if word != "chunks"]
    configure(sys.stderr, json=as_json(told), level=told.level, secrets=known)


def _secrets(value: object) -> Iterator[str]:
    """Answer every secret in the settings, however deep."""
    if isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _secrets(getattr(value, name))
    elif isinstance(value, dict):
        yield from _secrets(tuple(value.values()))
    elif isinstance(value, tuple):
        for one in value:
            yield from _secrets(one)


def as_json(settings: LogSettings) -> bool:
    """Tell whether logs are lines of JSON: where nobody looks on, unless it is set."""
    return settings.form == "json" or (settings.form == "auto" and not sys.stderr.isatty())
