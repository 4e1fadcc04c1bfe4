"""Commands on a Podium elsewhere, over HTTP with a key, instead of this data directory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from app.errors import Invalid, PodiumError, Unauthorized, Unavailable

PAGE = 1000
SECONDS = 60.0
ERRNO = re.compile(r"^\[Errno -?[0-9]+\] ")  # Python's, before the message of the system
Document = dict[str, Any]


def path_to(*parts: str) -> str:
    """The address below /v1 with these parts, whatever characters names have.

    >>> path_to("experiments", "a%62", "archive")
    '/v1/experiments/a%2562/archive'

    Raises:
        Invalid: a part names nothing, or a folder, so the address would be another one.
    """
    if not {"", ".", ".."}.isdisjoint(parts):
        raise Invalid(f"The name or id in {'/'.join(parts)!r} is empty or means a folder.")
    return "/".join(("/v1", *(quote(part, safe="") for part in parts)))


class Refused(PodiumError):
    """The Podium elsewhere refused this."""


class Answer(Document):
    """An object of an answer. A missing field is an error: another service may have answered.

    The address may be mistyped, and a Podium of another version has other fields.
    """

    def __missing__(self, name: str) -> Any:
        raise _not_podium(f"an answer without {name!r}")

    def having(self, name: str) -> Document:
        """The answer, if it has this field. For an answer that is only printed."""
        self[name]  # __missing__ says what is wrong
        return self


def _not_podium(what: str) -> Refused:
    return Refused(
        f"The address (--url, PODIUM_URL) gave {what}, which a Podium of this version does not. "
        "Its /healthz says whether it is a Podium, and of which version; `podium --version` says "
        "that of this command."
    )


class Remote:
    """A Podium at an address, called with a key. Close it, or use it in a `with`."""

    def __init__(self, url: str, key: str) -> None:
        import httpx  # imported here, so that only a command with --url loads it

        self._errors, self._no_address = httpx.HTTPError, httpx.InvalidURL
        self._url = url
        try:
            self._client = httpx.Client(
                base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=SECONDS
            )
        except (httpx.InvalidURL, ValueError, UnicodeError) as error:
            raise Invalid(f"{url!r} (--url, PODIUM_URL) is not an address: {error}.") from None

    def __enter__(self) -> Remote:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, path: str, **query: object) -> Answer:
        """The document at a path. Parameters that are None or empty are left out."""
        return self._call("GET", path, params=_given(query))

    def text(self, path: str) -> str:
        """The text at a path."""
        try:
            response = self._client.get(path)
        except self._errors as error:
            raise self._away(error) from None
        self._require_success(response.is_success, response.status_code)
        found: str = response.text
        return found

    def download(self, path: str, file: Path) -> None:
        """Write the bytes at a path to a file, which need not fit into memory."""
        try:
            with self._client.stream("GET", path) as response, file.open("wb") as target:
                self._require_success(response.is_success, response.status_code)
                for chunk in response.iter_bytes():
                    target.write(chunk)
        except self._errors as error:
            raise self._away(error) from None

    def post(self, path: str, body: Document) -> Answer:
        """The answer to a document."""
        return self._call("POST", path, json=body)

    def patch(self, path: str, body: Document) -> Answer:
        """The answer to a change."""
        return self._call("PATCH", path, json=body)

    def delete(self, path: str) -> Answer:
        """The answer to a deletion."""
        return self._call("DELETE", path)

    def items(self, path: str, **query: object) -> Iterator[Document]:
        """All items of a list, page by page."""
        cursor: str | None = None
        while True:
            page = self.get(path, limit=PAGE, cursor=cursor, **query)
            found = page["items"]
            if not isinstance(found, list) or not all(isinstance(one, Answer) for one in found):
                raise _not_podium("a list of something else")
            yield from found
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _call(self, method: str, path: str, **more: Any) -> Answer:
        try:
            response = self._client.request(method, path, **more)
            if response.has_redirect_location:  # for example from a proxy that accepts only https
                raise Refused(
                    f"{self._url} (--url, PODIUM_URL) sends to {response.headers['location']}: "
                    "name the address that it sends to."
                )
            is_json = "json" in response.headers.get("content-type", "")
            document = response.json(object_hook=Answer) if is_json else None
        except (self._no_address, UnicodeEncodeError) as error:
            raise Invalid(f"A name or an option cannot be sent to {self._url}: {error}.") from None
        except (self._errors, ValueError, RecursionError) as error:
            raise self._away(error) from None
        if response.is_success:
            if not isinstance(document, Answer):
                raise _not_podium("something else than a JSON object")
            return document
        said = document.get("detail") if isinstance(document, Answer) else None
        raise Refused(
            f"{self._url}: {said or f'it answered {response.status_code} without a reason'}"
        )

    def _away(self, error: Exception) -> Unavailable:
        reason = ERRNO.sub("", str(error))
        return Unavailable(
            f"{self._url} (--url, PODIUM_URL) does not answer: {reason}. Without --url and "
            "PODIUM_URL the command uses the data directory here."
        )

    def _require_success(self, is_success: bool, status: int) -> None:
        if not is_success:
            raise Refused(f"{self._url}: it answered {status} for a file")


def can_be_key(text: str) -> bool:
    """Whether a text has only characters that keys have."""
    return text.isascii() and text.isprintable() and " " not in text and text != ""


def remote(url: str, key: str) -> Remote | None:
    """The Podium at `url`; None without one: the command then uses the data directory.

    Raises:
        Unauthorized: there is an address and no key.
        Invalid: the address or the key is malformed.
    """
    if not url:
        return None
    key = key.strip()  # the text may come from a file that ends with a newline
    if not key:
        raise Unauthorized(f"A key is needed for {url}: --key, or the variable PODIUM_KEY.")
    if not can_be_key(key):
        raise Invalid("--key (PODIUM_KEY): it has characters that no key has.")
    if not url.startswith(("http://", "https://")):
        raise Invalid(f"{url!r} (--url, PODIUM_URL) is not an address: write http://host:port.")
    return Remote(url, key)


def _given(query: dict[str, object]) -> dict[str, Any]:
    return {name: value for name, value in query.items() if value not in (None, "", False)}
