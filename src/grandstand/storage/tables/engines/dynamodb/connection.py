"""Creation of the botocore clients."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

from grandstand.storage.tables.engines.dynamodb.errors import translate_error

_DEFAULT_REGION: Final = "us-east-1"
_AMAZON_DOMAINS: Final = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")


@dataclass(frozen=True, slots=True)
class Credentials:
    """AWS credentials."""

    access_key: str
    secret_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts of one attempt."""

    connect_seconds: float = 3.0
    read_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """Amazon DynamoDB in a region, or a compatible service at an endpoint."""

    region: str | None = None
    endpoint: str | None = None
    credentials: Credentials | None = None
    timeouts: Timeouts = Timeouts()
    pool_size: int = 50

    @property
    def is_amazon(self) -> bool:
        """Whether the service is Amazon DynamoDB."""
        return self.endpoint is None or (urlsplit(self.endpoint).hostname or "").endswith(
            _AMAZON_DOMAINS
        )


@dataclass(frozen=True, slots=True)
class Clients:
    """The botocore clients for tables and streams."""

    tables: Any
    streams: Any

    def close(self) -> None:
        """Close the connections."""
        self.tables.close()
        self.streams.close()


# DynamoDB Local requires an access key, and separates tables by access key.
_PLACEHOLDER: Final = Credentials("grandstand", "grandstand")


def connect(address: ServiceAddress) -> Clients:
    """Create the clients without connecting.

    Without credentials and region, those of the AWS configuration are used (environment, profile,
    instance); other endpoints get placeholders.

    Raises InvalidRequest if there is no region.
    """
    from botocore.session import Session

    credentials = address.credentials
    if credentials is None and not address.is_amazon:
        credentials = _PLACEHOLDER
    session = Session()
    session.register_component(
        "data_loader", _service_loader(session.get_config_variable("data_path"))
    )
    region = address.region or session.get_config_variable("region")
    if region is None and address.endpoint is not None:
        region = _DEFAULT_REGION
    settings: dict[str, Any] = {
        "region_name": region,
        "endpoint_url": address.endpoint,
        "config": _client_config(address),
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
    except Exception as error:
        raise translate_error(error).error from error


@lru_cache(maxsize=1)
def _service_loader(data_path: str | None) -> Any:  # noqa: ANN401 - botocore comes without types
    """Return a shared loader: parsing service descriptions is most of the cost of a client."""
    from botocore.loaders import create_loader

    return create_loader(data_path)


def _client_config(address: ServiceAddress) -> Any:  # noqa: ANN401 - botocore comes without types
    from botocore.config import Config

    return Config(
        connect_timeout=address.timeouts.connect_seconds,
        read_timeout=address.timeouts.read_seconds,
        max_pool_connections=address.pool_size,
        # Retries are counted in one place (client.py), and the service's messages about invalid
        # requests are better than those of the client.
        retries={"mode": "standard", "total_max_attempts": 1},
        parameter_validation=False,
        tcp_keepalive=True,
    )
