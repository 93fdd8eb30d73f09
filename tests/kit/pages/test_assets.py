"""Static files have an address that changes with their content, and nothing else is served."""

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from grandstand.core.errors import Broken
from grandstand.kit.pages.assets import KIT_STATIC, Assets, read_assets


def _client(assets: Assets) -> TestClient:
    return TestClient(Starlette(routes=[Mount("/static", assets)]))


def test_a_file_is_served_for_ever_under_its_hash() -> None:
    assets = read_assets()

    answer = _client(assets).get(assets.url("js/platform.js"))

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "immutable" in answer.headers["cache-control"]
    assert answer.content == (KIT_STATIC / "js" / "platform.js").read_bytes()


@pytest.mark.parametrize(
    "path",
    [
        "/static/000000000000/js/platform.js",
        "/static/{version}/js/none.js",
        "/static/{version}/../rendering.py",
        "/static/{version}/%2e%2e/rendering.py",
        "/static/{version}/",
        "/static/",
    ],
)
def test_anything_else_is_not_there(path: str) -> None:
    assets = read_assets()

    answer = _client(assets).get(path.format(version=assets.version))

    assert answer.status_code == 404


def test_a_changed_file_has_another_address(tmp_path: Path) -> None:
    (tmp_path / "bets.css").write_text("a{}", encoding="utf-8")
    before = read_assets({"bets": tmp_path})
    (tmp_path / "bets.css").write_text("b{}", encoding="utf-8")

    after = read_assets({"bets": tmp_path})

    assert before.url("bets/bets.css") != after.url("bets/bets.css")


def test_a_file_that_is_not_there_has_no_address() -> None:
    with pytest.raises(Broken, match="No static file"):
        read_assets().url("css/none.css")


def test_only_get_and_head_are_answered() -> None:
    assets = read_assets()

    answer = _client(assets).post(assets.url("js/platform.js"))

    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"
