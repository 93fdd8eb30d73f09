"""The first page is right for as many applications as there are."""

from pathlib import Path

import pytest

from grandstand.kit.app import App
from tests.host.server.serving import serving, settings_in

_NAMES = ("alder", "birch", "cedar", "dogwood", "elder", "fir")


@pytest.mark.parametrize(
    ("count", "said", "laid_out"),
    [
        (5, "What is on in all five apps.", 'class="cards five"'),
        (6, "What is on in all six apps.", 'class="cards"'),
    ],
)
def test_pages_tell_how_many_applications_there_are(
    tmp_path: Path, count: int, said: str, laid_out: str
) -> None:
    apps: tuple[App[None], ...] = tuple(
        App(name=name, title=name.title(), purpose="For trees.") for name in _NAMES[:count]
    )

    with serving(settings_in(tmp_path), apps=apps) as served, served.client() as client:
        home = client.get("/", headers={"accept": "text/html"})
        parts = client.get("/platform/gallery", headers={"accept": "text/html"})

    assert said in home.text
    assert laid_out in home.text
    assert parts.status_code == 200
    assert laid_out in parts.text
