"""The wire: one HTTP session to one endpoint. Bytes go out, a status and bytes come back, or an `AttemptFailed`.

The key stands in one header of the session and is cut out of everything that comes back. Redirects are not followed,
a body has a size limit, and there is no limit on connections: how many requests are in flight is `limits.py`'s to say.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Self
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from maxproof.models.retry import AttemptFailed, parse_retry_after
from maxproof.models.types import FailureKind
from maxproof.problems import InputError

MAX_BODY_BYTES = 64 * 1024 * 1024
CONNECT_S = 30.0

_REDACTED = "[key]"
_MIN_SECRET_CHARS = 8  # shorter ones are placeholders such as "none"; cutting them out would damage texts
_STREAMED_ABOVE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Received:
    """A response. `retry_after_s` and `location` are from its headers, None and "" if absent."""

    status: int
    body: bytes
    retry_after_s: float | None = None
    location: str = ""


class Transport:
    """One session, open inside `async with`.

    Raises `InputError` for a base URL that is none, and on entering for a key that can't stand in a header.
    """

    def __init__(self, name: str, base_url: str, key_env: str) -> None:
        self._name = name
        self._key_env = key_env
        self._key = ""
        self.base_url = base_url.rstrip("/")
        field = f"endpoints.{name}.base_url"
        try:
            url = URL(self.base_url)
            valid = url.scheme in ("http", "https") and bool(url.host)
        except ValueError:
            valid = False
        if not valid:
            raise InputError(f"{base_url!r} is no http or https URL", field=field, hint="e.g. http://localhost:8000/v1")
        if url.path.endswith("/chat/completions"):
            raise InputError("ends in /chat/completions", field=field, hint="leave that part off")
        if url.user or url.password:
            raise InputError("holds a user name or password", field=field, hint=f"put the key into {key_env}")
        self._url = url
        self._chat = url / "chat" / "completions"
        self._models = url / "models"
        self._proxy = _proxy_for(url)
        self._headers: dict[str, str] = {}
        self._session: aiohttp.ClientSession | None = None

    @property
    def has_key(self) -> bool:
        return bool(self._key)

    async def __aenter__(self) -> Self:
        self._key = os.environ.get(self._key_env, "").strip()
        if not all(" " < c <= "~" for c in self._key):
            raise InputError(f"the environment variable {self._key_env} holds characters that no key has")
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            self._headers["Authorization"] = f"Bearer {self._key}"
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, limit_per_host=0, ttl_dns_cache=300),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def post_chat(self, body: bytes) -> Received:
        """Sends a chat-completion request."""
        return await self._send("POST", self._chat, body)

    async def get_models(self) -> Received:
        """Asks for the list of models."""
        return await self._send("GET", self._models, None)

    def redact(self, text: str) -> str:
        """`text` without the key, its beginning, or its end."""
        if len(self._key) < _MIN_SECRET_CHARS:
            return text
        text = text.replace(self._key, _REDACTED)
        head, tail = re.escape(self._key[:_MIN_SECRET_CHARS]), re.escape(self._key[-_MIN_SECRET_CHARS:])
        return re.sub(rf"{head}[^\s\"',;]*|[^\s\"',;]*{tail}", _REDACTED, text)

    async def _send(self, method: str, url: URL, body: bytes | None) -> Received:
        if self._session is None:
            raise RuntimeError("the client is used outside its `async with`")
        # The failure is raised outside the handler: what aiohttp raises may hold the request's headers, key included.
        try:
            async with self._session.request(
                method,
                url,
                data=io.BytesIO(body) if body is not None and len(body) > _STREAMED_ABOVE else body,
                headers=self._headers,
                allow_redirects=False,
                proxy=self._proxy,
            ) as response:
                headers = response.headers
                content = await self._read(response)
                retry_after = _retry_after(
                    headers.get("retry-after-ms"), headers.get("Retry-After"), headers.get("Date")
                )
                return Received(response.status, content, retry_after, self.redact(headers.get("Location", "")))
        except (aiohttp.ClientError, OSError, asyncio.IncompleteReadError) as error:
            failure = self._failure(error)
        raise failure

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        chunks: list[bytes] = []
        size = 0
        while chunk := await response.content.readany():
            size += len(chunk)
            if size > MAX_BODY_BYTES:
                raise AttemptFailed(FailureKind.BAD_REPLY, f"the body has more than {MAX_BODY_BYTES >> 20} MiB")
            chunks.append(chunk)
        body = b"".join(chunks)
        if len(self._key) >= _MIN_SECRET_CHARS:
            body = body.replace(self._key.encode(), _REDACTED.encode())
        return body

    def _failure(self, error: Exception) -> AttemptFailed:
        host = f"{self._url.host}:{self._url.port}"
        if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
            return AttemptFailed(
                FailureKind.PERMANENT,
                f"no TLS connection to {host}: check base_url (http or https?) and the certificate",
            )
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return AttemptFailed(
                FailureKind.CONNECTION, f"{host} does not accept a connection within {CONNECT_S:.0f} s"
            )
        if isinstance(error, aiohttp.ClientConnectorError):
            reason = self.redact(error.os_error.strerror or type(error.os_error).__name__)
            return AttemptFailed(
                FailureKind.CONNECTION, f"no connection to {host}: {reason} (is the server up, and base_url right?)"
            )
        if isinstance(error, aiohttp.ClientPayloadError):
            return AttemptFailed(FailureKind.CONNECTION, f"{host} broke off in the middle of a reply")
        if isinstance(error, aiohttp.ClientResponseError):
            return AttemptFailed(FailureKind.BAD_REPLY, f"{host} sent something that is not HTTP (check base_url)")
        return AttemptFailed(FailureKind.CONNECTION, f"{host} closed the connection without a reply")


def _retry_after(milliseconds: str | None, seconds: str | None, date: str | None) -> float | None:
    """Seconds to wait; an HTTP date is taken relative to the server's own clock where it sends one."""
    if milliseconds is None and seconds is None:
        return None
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
    except ValueError:
        pass
    try:
        now = parsedate_to_datetime(date) if date else datetime.now(UTC)
    except ValueError:
        now = datetime.now(UTC)
    return parse_retry_after(seconds, now if now.tzinfo else now.replace(tzinfo=UTC))


def _proxy_for(url: URL) -> str | None:
    """The proxy that the environment names for `url`, looked up once; never one for this machine itself."""
    host = url.host or ""
    if host in ("localhost", "::1") or host.startswith("127.") or proxy_bypass(host):
        return None
    return getproxies().get(url.scheme)
