"""Memory that was freed is given back."""

import sys

import pytest

from grandstand.host.thrift import be_thrifty, give_back


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc is spoken to")
def test_what_is_free_is_given_back() -> None:
    be_thrifty()

    assert give_back()
