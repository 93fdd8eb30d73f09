"""A home folder that was in use is not opened as a new installation."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from grandstand.core.errors import InvalidInput
from grandstand.host.infrastructure import StoreLost, open_store, sqlite_file
from grandstand.host.settings import ServerSettings
from grandstand.kit.auth.host_policy import check_binding
from tests.host.server.serving import settings_in


def test_a_new_home_is_opened(tmp_path: Path) -> None:
    with open_store(settings_in(tmp_path)):
        pass


@pytest.mark.parametrize("left", ["nothing", "an empty file"])
def test_a_used_home_without_its_store_is_refused(tmp_path: Path, left: str) -> None:
    settings = settings_in(tmp_path)
    file = sqlite_file(settings)
    assert file is not None
    (tmp_path / "secret").write_text("used", encoding="utf-8")
    if left == "an empty file":
        file.touch()

    with pytest.raises(StoreLost, match="grandstand restore") as refused:
        open_store(settings)

    assert str(file) in str(refused.value)
    assert not file.exists() or file.stat().st_size == 0


def test_a_used_home_may_get_a_new_store_when_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("used", encoding="utf-8")

    with open_store(settings_in(tmp_path), new=True):
        pass
    with open_store(settings_in(tmp_path)):
        pass


@pytest.mark.parametrize("proxies", [("10.0.0.300",), ("proxy",), ("0.0.0.0/0",), ("::/0",)])
def test_a_proxy_is_an_address_or_a_network(proxies: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError, match="trusted_proxies"):
        ServerSettings(trusted_proxies=proxies)


@pytest.mark.parametrize("published", [False, True])
def test_a_published_server_needs_an_account_on_loopback_too(*, published: bool) -> None:
    check_binding("127.0.0.1", accounts=True, tokens=False, published=published)
    check_binding("127.0.0.1", accounts=False, tokens=True, published=published)
    if not published:
        check_binding("127.0.0.1", accounts=False, tokens=False, published=published)
        return
    with pytest.raises(InvalidInput, match="grandstand user add"):
        check_binding("127.0.0.1", accounts=False, tokens=False, published=published)
