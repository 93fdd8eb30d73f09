"""Kept here: Amazon Bedrock's Converse, one call at a time, and what its errors mean."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, Protocol

from grandstand.base.errors import (
    GrandstandError,
    InvalidInput,
    LimitReached,
    NotAllowed,
    SourceFailed,
    Unavailable,
)

_MEANINGS: Final[Mapping[str, type[GrandstandError]]] = {
    "AccessDeniedException": NotAllowed,
    "ExpiredTokenException": NotAllowed,
    "UnrecognizedClientException": NotAllowed,
    "InvalidSignatureException": NotAllowed,
    "ResourceNotFoundException": InvalidInput,
    "ValidationException": InvalidInput,
    "ThrottlingException": LimitReached,
    "ServiceQuotaExceededException": LimitReached,
    "ModelNotReadyException": Unavailable,
    "ModelTimeoutException": Unavailable,
    "ServiceUnavailableException": Unavailable,
    "InternalServerException": Unavailable,
    "ModelErrorException": SourceFailed,
}


class BedrockUnavailable(Unavailable):
    """Bedrock cannot be reached, or no credentials for it are found."""


class _Client(Protocol):
    def converse(self, **request: object) -> dict[str, Any]: ...


class Bedrock:
    """A connection to Bedrock's runtime; calls run in threads."""

    def __init__(self, client: _Client) -> None:
        self._client = client

    @classmethod
    def open(cls, *, region: str, endpoint: str | None, seconds: float) -> Bedrock:
        """Open by the credentials botocore finds; raise BedrockUnavailable when there are none."""
        import botocore.config
        import botocore.session
        from botocore.exceptions import BotoCoreError

        session = botocore.session.get_session()
        config = botocore.config.Config(
            read_timeout=seconds,
            connect_timeout=min(seconds, 5.0),
            retries={"total_max_attempts": 3, "mode": "standard"},
        )
        try:
            client = session.create_client(
                "bedrock-runtime", region_name=region, endpoint_url=endpoint or None, config=config
            )
        except BotoCoreError as fault:
            raise BedrockUnavailable(f"Bedrock cannot be used: {fault}") from fault
        return cls(client)

    async def converse(self, **request: object) -> dict[str, Any]:
        """Carry a Converse request out; raise an error of ours with Amazon's sentence in it."""
        return await asyncio.to_thread(self._converse, request)

    def _converse(self, request: Mapping[str, object]) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return self._client.converse(**request)
        except ClientError as fault:
            code = fault.response.get("Error", {}).get("Code", "")
            raise _MEANINGS.get(code, SourceFailed)(f"Bedrock refused: {fault}") from fault
        except BotoCoreError as fault:
            raise BedrockUnavailable(f"Bedrock does not answer: {fault}") from fault
