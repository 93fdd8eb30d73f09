"""The race site is never asked faster than once a second."""

import pytest
from pydantic import ValidationError

from grandstand.apps.keiba.settings import KeibaSettings


def test_a_gap_below_a_second_is_refused_for_a_real_site() -> None:
    with pytest.raises(ValidationError, match="must be at least 1 for"):
        KeibaSettings(gap_seconds=0.5)


def test_a_gap_below_a_second_is_fine_on_this_machine() -> None:
    here = "http://127.0.0.1:8000"

    settings = KeibaSettings(
        gap_seconds=0, race_url=f"{here}/race", nar_url=f"{here}/nar", db_url="http://localhost/db"
    )

    assert settings.gap_seconds == 0
