"""Botocore clients of DynamoDB, calls with retries, and detection of capabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any, Final, Protocol, TypeAlias
from urllib.parse import urlsplit

from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError, InvalidInput, NotFound
from grandstand.storage.tables.engines.dynamodb.errors import (
    CallFailure,
    OperationNotSupported,
    translate_error,
)
from grandstand.storage.tables.engines.protocol import Capabilities
from grandstand.storage.tables.errors import ConditionFailed, StoreUnavailable

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
        region = "us-east-1"
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


Shape: TypeAlias = dict[str, Any]


class CapacityMeter(Protocol):
    """Receives the capacity that calls consume."""

    def consumed(self, operation: str, table: str, units: float) -> None:
        """Record the capacity units a call consumed on a table."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a failed call is repeated, and the delays.

    A delay is random between 0 and `first_seconds`, doubled with every attempt up to
    `longest_seconds`. Nothing is repeated after `total_seconds`.
    """

    attempts: int = 8
    first_seconds: float = 0.05
    longest_seconds: float = 2.0
    total_seconds: float = 30.0


@dataclass(slots=True)
class RetryState:
    """Counts the attempts of one piece of work and waits between them."""

    clock: Clock
    random: Random
    policy: RetryPolicy
    started_at: float
    attempts: int = 1

    def wait(self) -> bool:
        """Wait before the next attempt; return False at once if there is none."""
        policy = self.policy
        if self.attempts >= policy.attempts:
            return False
        longest = min(policy.longest_seconds, policy.first_seconds * 2 ** (self.attempts - 1))
        delay = self.random.uniform(0, longest)
        if self.clock.monotonic() - self.started_at + delay > policy.total_seconds:
            return False
        self.attempts += 1
        self.clock.sleep(delay)
        return True


@dataclass(frozen=True, slots=True)
class DynamoClient:
    """Calls a botocore client with retries, and raises only errors of table storage."""

    client: Any
    clock: Clock
    random: Random
    retry_policy: RetryPolicy = RetryPolicy()
    meter: CapacityMeter | None = None

    def send(
        self,
        operation: str,
        parameters: Shape,
        *,
        repeatable: bool = True,
        confirm: Callable[[], Shape | None] | None = None,
    ) -> Shape:
        """Call an operation, repeat it after transient errors, and return the response.

        A call whose response was lost may have been executed. Unless it is `repeatable`, it is not
        repeated: StoreUnavailable says that the outcome is unknown. If it is repeated and its
        condition fails, perhaps because of the first attempt, `confirm` returns the response the
        call would have had, or None if it was not executed.
        """
        if self.meter is not None and operation.endswith(("_item", "_items", "query", "scan")):
            parameters = {**parameters, "ReturnConsumedCapacity": "TOTAL"}
        outcome_unknown = False
        state = self.start_retries()
        while True:
            result = self._attempt(operation, parameters)
            if not isinstance(result, CallFailure):
                return result
            if outcome_unknown and confirm and isinstance(result.error, ConditionFailed):
                response = confirm()
                if response is not None:
                    return response
            outcome_unknown = outcome_unknown or result.outcome_unknown
            if result.outcome_unknown and not repeatable:
                raise StoreUnavailable(
                    f"{str(result.error).rstrip('.')}. The write may have been executed and is not "
                    "safe to repeat: read the item before trying again."
                ) from result.error
            if not result.retry or not state.wait():
                raise result.error

    def start_retries(self) -> RetryState:
        """Return the retry state of a new piece of work."""
        return RetryState(self.clock, self.random, self.retry_policy, self.clock.monotonic())

    def _attempt(self, operation: str, parameters: Shape) -> Shape | CallFailure:
        try:
            response: Shape = getattr(self.client, operation)(**parameters)
        except GrandstandError:
            raise
        except Exception as error:  # noqa: BLE001 - every error of the client is translated here
            failure = translate_error(error)
            failure.error.__cause__ = error
            return failure
        if self.meter is not None:
            _record_capacity(self.meter, operation, response)
        return response


def _record_capacity(meter: CapacityMeter, operation: str, response: Shape) -> None:
    consumed = response.get("ConsumedCapacity") or ()
    for capacity in (consumed,) if isinstance(consumed, dict) else consumed:
        meter.consumed(operation, capacity["TableName"], float(capacity["CapacityUnits"]))


def detect_capabilities(tables: DynamoClient, streams: DynamoClient) -> Capabilities:
    """Ask the service which operations it supports, with requests that change nothing.

    A service reports an operation it does not support differently than an invalid request or a
    missing table.

    Raises StoreUnavailable if the service does not respond.
    """
    return Capabilities(
        transactions=_supports(tables, "transact_get_items", {"TransactItems": []}),
        streams=_supports(streams, "list_streams", {"Limit": 1}),
        ttl=_supports(tables, "describe_time_to_live", {"TableName": "grandstand-no-such-table"}),
    )


def _supports(client: DynamoClient, operation: str, parameters: Shape) -> bool:
    try:
        client.send(operation, parameters)
    except OperationNotSupported:
        return False
    except (InvalidInput, NotFound):
        return True
    return True
