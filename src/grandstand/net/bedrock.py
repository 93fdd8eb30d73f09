"""Amazon Bedrock's Converse API."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, Protocol

from grandstand.core import errors

_ERRORS: Final[Mapping[str, type[errors.GrandstandError]]] = {
    "AccessDeniedException": errors.NotAllowed,
    "ExpiredTokenException": errors.NotAllowed,
    "UnrecognizedClientException": errors.NotAllowed,
    "InvalidSignatureException": errors.NotAllowed,
    "ResourceNotFoundException": errors.InvalidInput,
    "ValidationException": errors.InvalidInput,
    "ThrottlingException": errors.LimitReached,
    "ServiceQuotaExceededException": errors.LimitReached,
    "ModelNotReadyException": errors.Unavailable,
    "ModelTimeoutException": errors.Unavailable,
    "ServiceUnavailableException": errors.Unavailable,
    "InternalServerException": errors.Unavailable,
    "ModelErrorException": errors.SourceFailed,
}


class _Client(Protocol):
    def converse(self, **request: object) -> dict[str, Any]: ...


class Bedrock:
    """A connection to Bedrock's runtime; calls run in threads."""

    def __init__(self, client: _Client) -> None:
        self._client = client

    @classmethod
    def open(cls, *, region: str, endpoint: str | None, seconds: float) -> Bedrock:
        """Open with the credentials botocore finds. Raises Unavailable."""
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
        except BotoCoreError as error:
            raise errors.Unavailable(f"Bedrock cannot be used: {error}") from error
        return cls(client)

    async def converse(self, **request: object) -> dict[str, Any]:
        """Send a Converse request; errors carry AWS's message."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return await asyncio.to_thread(self._client.converse, **request)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            raise _ERRORS.get(code, errors.SourceFailed)(f"Bedrock refused: {error}") from error
        except BotoCoreError as error:
            raise errors.Unavailable(f"Bedrock does not respond: {error}") from error
