"""That the service is reached where and as whom it was told, and botocore only when it is."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.engines.dynamodb.client import (
    Credentials,
    ServiceAddress,
    connect,
)
from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from grandstand.storage.tables.engines.protocol import Capabilities
from grandstand.storage.tables.errors import InvalidRequest, StoreUnavailable
from grandstand.storage.tables.requests import GetItem
from tests.storage.tables.engines.dynamodb.services import Script, ServiceOf, ok


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A machine on which nothing about Amazon is configured."""
    missing = str(tmp_path_factory.mktemp("aws") / "config")
    monkeypatch.setenv("AWS_CONFIG_FILE", missing)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", missing)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID"):
        monkeypatch.delenv(name, raising=False)


def test_importing_the_engine_does_not_import_botocore() -> None:
    program = (
        "import sys; import grandstand.storage.tables.engines.dynamodb.engine; "
        "print([name for name in sys.modules if name.startswith('boto')])"
    )

    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert answer.stdout.strip() == "[]"


@pytest.mark.usefixtures("nowhere")
def test_amazons_service_needs_a_region() -> None:
    with pytest.raises(InvalidRequest, match="region"):
        connect(ServiceAddress(credentials=Credentials("a", "b")))


@pytest.mark.usefixtures("nowhere")
def test_another_endpoint_needs_neither_region_nor_credentials(service_of: ServiceOf) -> None:
    service = service_of(Script([ok()]))
    engine = DynamoEngine.open(
        endpoint=service.endpoint,
        clock=ManualClock(),
        random=random.Random(1),
        capabilities=Capabilities(),
    )

    engine.get(GetItem("some", {"pk": "a"}))

    assert "Credential=grandstand/" in service.calls[0].headers["Authorization"]
    engine.close()


def test_credentials_given_are_the_ones_used(service_of: ServiceOf) -> None:
    service = service_of(Script([ok()]))
    engine = DynamoEngine.open(
        region="ap-northeast-1",
        endpoint=service.endpoint,
        credentials=Credentials("mykey", "secret", "session"),
        clock=ManualClock(),
        random=random.Random(1),
        capabilities=Capabilities(),
    )

    engine.get(GetItem("some", {"pk": "a"}))

    headers = service.calls[0].headers
    assert "Credential=mykey/" in headers["Authorization"]
    assert "/ap-northeast-1/dynamodb/" in headers["Authorization"]
    assert headers["X-Amz-Security-Token"] == "session"
    engine.close()


def test_secrets_are_not_shown() -> None:
    shown = repr(Credentials("mykey", "hush", "quiet"))

    assert shown == "Credentials(access_key='mykey')"


@pytest.mark.parametrize(
    ("endpoint", "is_amazon"),
    [
        (None, True),
        ("https://vpce-1.dynamodb.eu-west-1.vpce.amazonaws.com", True),
        ("http://127.0.0.1:8000", False),
        ("https://amazonaws.com.example.org", False),
    ],
)
def test_amazons_own_addresses_are_known(endpoint: str | None, is_amazon: bool) -> None:  # noqa: FBT001
    assert ServiceAddress(endpoint=endpoint).is_amazon is is_amazon


def test_closing_twice_is_harmless_and_later_calls_fail_plainly() -> None:
    engine = DynamoEngine.open(
        endpoint="http://127.0.0.1:9", clock=ManualClock(), random=random.Random(1)
    )

    engine.close()
    engine.close()

    with pytest.raises(StoreUnavailable):
        engine.list_tables()
