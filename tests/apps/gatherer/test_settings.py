"""The gatherer's settings refuse what cannot be meant."""

from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from grandstand.apps.gatherer.settings import GathererSettings


def test_a_key_is_given_as_text_or_in_a_file_and_not_both() -> None:
    with pytest.raises(ValidationError, match="not both"):
        GathererSettings(private_key=SecretStr("PEM"), private_key_file=Path("key.pem"))


def test_a_first_wait_above_the_longest_is_refused() -> None:
    with pytest.raises(ValidationError, match="max_reconnect_seconds"):
        GathererSettings(reconnect_seconds=10, max_reconnect_seconds=5)


def test_a_private_key_is_not_shown() -> None:
    settings = GathererSettings(private_key=SecretStr("very private"))

    shown = repr(settings)

    assert "very private" not in shown
