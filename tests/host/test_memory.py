"""Memory that was freed is given back."""

import sys

import pytest

from grandstand.host.memory import release_memory, tune_malloc


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc is spoken to")
def test_what_is_free_is_given_back() -> None:
    tune_malloc()

    assert release_memory()
