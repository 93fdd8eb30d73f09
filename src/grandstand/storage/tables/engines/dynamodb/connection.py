"""Kept here: how the service is reached: where, as whom, how patiently; botocore's one door."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

from grandstand.storage.tables.engines.dynamodb.failures import failure

_ANY_REGION: Final = "us-east-1"
_AMAZON: Final = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who calls."""

    access_key: str
    secret_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long one try may take; a cache that must not delay its caller wants 1 to 2 seconds."""

    connect_seconds: float = 3.0
    read_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Address:
    """Which service is meant: Amazon's in a region, or another behind an endpoint."""

    region: str | None = None
    endpoint: str | None = None
    credentials: Credentials | None = None
    timeouts: Timeouts = Timeouts()
    pool_size: int = 50

    @property
    def of_amazon(self) -> bool:
        """Whether the service is Amazon's own."""
        return self.endpoint is None or (urlsplit(self.endpoint).hostname or "").endswith(_AMAZON)


@dataclass(frozen=True, slots=True)
class Clients:
    """botocore's clients for tables and for streams."""

    tables: Any
    streams: Any

    def close(self) -> None:
        """Let go of the connections."""
        self.tables.close()
        self.streams.close()


# DynamoDB Local and relatives want some key, and keep the tables of different keys apart.
_NOBODY: Final = Credentials("grandstand", "grandstand")


def connect(address: Address) -> Clients:
    """Make the clients, without calling anyone yet.

    Amazon's own credentials and region (environment, profile, instance) are used where none are
    given; another endpoint gets placeholders. Raises InvalidRequest when there is no region.
    """
    from botocore.session import Session

    credentials = address.credentials
    if credentials is None and not address.of_amazon:
        credentials = _NOBODY
    session = Session()
    session.register_component("data_loader", _loader(session.get_config_variable("data_path")))
    region = address.region or session.get_config_variable("region")
    if region is None and address.endpoint is not None:
        region = _ANY_REGION
    settings: dict[str, Any] = {
        "region_name": region,
        "endpoint_url": address.endpoint,
        "config": _config(address),
    }
    if credentials is not None:
        settings["aws_access_key_id"] = credentials.access_key
        settings["aws_secret_access_key"] = credentials.secret_key
        settings["aws_session_token"] = credentials.session_token
    try:
        return Clients(
            session.create_client("dynamodb", **settings),
            session.create_client("dynamodbstreams", **settings),
        )
    except Exception as fault:
        raise failure(fault).error from fault


@lru_cache(maxsize=1)
def _loader(data_path: str | None) -> Any:  # noqa: ANN401 - botocore comes without types
    """Read botocore's descriptions of services once, which is most of the making of a client."""
    from botocore.loaders import create_loader

    return create_loader(data_path)


def _config(address: Address) -> Any:  # noqa: ANN401 - botocore comes without types
    from botocore.config import Config

    return Config(
        connect_timeout=address.timeouts.connect_seconds,
        read_timeout=address.timeouts.read_seconds,
        max_pool_connections=address.pool_size,
        # Tries are counted in one place only, and the service's own sentences about a wrong
        # request are better than those of the client.
        retries={"mode": "standard", "total_max_attempts": 1},
        parameter_validation=False,
        tcp_keepalive=True,
    )
