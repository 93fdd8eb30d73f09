"""The whole API against its own description, with requests nobody would think of.

Who gets in where is the matter of the authorisation matrix, not of this.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core.failures import Failure as CheckFailed
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance

from tests.host.server.serving import Served, serving, settings_in

EXAMPLES = 5
# On a busy machine an answer may take its time.
PATIENCE_SECONDS = 120
# A text of the right form may still be no time zone, and is refused with 400.
NOT_ASKED = [ignored_auth, positive_data_acceptance]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, quiet_exchange: str) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("api")
    settings = settings_in(folder, exchange=quiet_exchange, requests_per_minute=1_000_000)
    with serving(settings) as running:
        yield running


@pytest.fixture(scope="module")
def key(served: Served) -> dict[str, str]:
    return served.do(_peopled(served))


async def _peopled(running: Served) -> dict[str, str]:
    people = running.platform.people
    ada = await people.add("ada", "a stand with a view", admin=True)
    made = await people.keys.issue(ada.user_id, "contract", admin=True)
    return {"authorization": f"Bearer {made.text}"}


def _faults(operation: Any, mode: GenerationMode, key: dict[str, str]) -> list[str]:
    """What an operation did otherwise than it says, the first time it did."""

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def hammer(case: Any) -> None:
        case.call_and_validate(headers=key, excluded_checks=NOT_ASKED)

    try:
        hammer()
    except (FailureGroup, CheckFailed) as fault:
        return [f"{operation.label} ({mode.value}): {fault}"]
    except Unsatisfiable:
        return []  # nothing can be wrong about a request that takes nothing
    return []


@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_route_keeps_to_its_description(
    served: Served, key: dict[str, str], mode: GenerationMode
) -> None:
    with served.client(**key) as client:
        document: Any = schemathesis.openapi.from_dict(client.get("/api/openapi.json").json())
    document.config.update(base_url=served.address, request_timeout=PATIENCE_SECONDS)
    operations = [found.ok() for found in document.get_all_operations()]

    faults = [fault for operation in operations for fault in _faults(operation, mode, key)]

    assert len(operations) > 10
    assert "\n".join(faults) == ""


def test_every_route_declares_its_problems_and_has_a_summary(
    served: Served, key: dict[str, str]
) -> None:
    with served.client(**key) as client:
        document = client.get("/api/openapi.json").json()

    operations = [
        (f"{method} {path}", told)
        for path, methods in document["paths"].items()
        for method, told in methods.items()
    ]
    bare = [
        name
        for name, told in operations
        if not told.get("summary")
        or {"401", "403", "422", "429", "500"} - told["responses"].keys()
        or "application/problem+json" not in told["responses"]["422"]["content"]
    ]
    assert len(operations) > 10
    assert bare == []


def test_the_home_folder_keeps_the_secret_to_itself(served: Served) -> None:
    secret: Path = served.platform.settings.home / "secret"

    assert secret.stat().st_mode & 0o077 == 0
