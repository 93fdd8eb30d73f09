"""HTTP/2 over TLS, only with a trusted certificate."""

import ssl
from pathlib import Path
from random import Random

import pytest

from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.net.client import SourceRegistry
from grandstand.net.errors import SourceUnreachable
from grandstand.net.retry import RetryPolicy
from tests.net.http2_server import make_certificate, serving_http2

pytestmark = pytest.mark.anyio


async def test_http2_is_spoken_where_the_source_speaks_it(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    context = ssl.create_default_context(cafile=str(certificate))
    parts = SourceRegistry(
        clock=SystemClock(), random=Random(1), metrics=Metrics(), context=context
    )

    async with serving_http2(certificate) as url, parts as web:
        answer = await web.source("feed", base_url=url).get("/")

    assert (answer.version, answer.json(str), answer.headers["x-by"]) == ("HTTP/2", "second", "h2")


async def test_a_certificate_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    parts = SourceRegistry(clock=SystemClock(), random=Random(1), metrics=Metrics())

    async with serving_http2(make_certificate(tmp_path)) as url, parts as web:
        source = web.source("feed", base_url=url, retries=RetryPolicy(tries=1))
        with pytest.raises(SourceUnreachable, match="certificate verify failed"):
            await source.get("/")
