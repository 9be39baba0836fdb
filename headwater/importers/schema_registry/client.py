"""A registry of schemas over the REST API of Confluent, which Apicurio and Karapace answer too."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from headwater.credentials import parse_token
from headwater.errors import QueryError, UnavailableError
from headwater.transport import HttpSender

AVRO = "AVRO"
_SECONDS_MAX = 30.0
_PAUSES = (0.5, 2.0)
# A registry that answers more is none that this importer should trust.
RESPONSE_BYTES_MAX = 32 * 2**20
REFERENCES_MAX = 100
_ACCEPT = "application/vnd.schemaregistry.v1+json, application/json"


@dataclass(frozen=True)
class Reference:
    """A schema that another one imports under a name."""

    name: str
    subject: str
    version: int


@dataclass(frozen=True)
class RegisteredSchema:
    """One version of a subject: its id in the registry, its type and its text."""

    subject: str
    version: int
    id: int
    type: str
    text: str
    references: tuple[Reference, ...] = ()


class SchemaRegistry:
    """Reads subjects and their versions."""

    def __init__(self, url: str, *, user: str = "", password: str = "", token: str = "") -> None:
        """Create a reader. Raises QueryError if the address is none, SettingsError for a bad token.

        Args:
            url: The address, with the path of the API: https://registry:8081.
            user: The name for basic authentication; "" without it.
            password: The password of the user.
            token: The token for bearer authentication; "" without it.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise QueryError(
                "the address of the registry must begin with http:// or https://",
                hint="For example: headwater import schema-registry http://registry:8081",
            )
        if parts.username or parts.password:
            raise QueryError(
                "the address of the registry must not hold a password",
                hint="Set SCHEMA_REGISTRY_USER and SCHEMA_REGISTRY_PASSWORD.",
            )
        self._url = url.rstrip("/")
        self._headers = {"Accept": _ACCEPT}
        bearer = parse_token(
            token, "the token of the registry", hint="Set SCHEMA_REGISTRY_TOKEN again."
        )
        if bearer:
            self._headers["Authorization"] = f"Bearer {bearer}"
        elif user:
            # A name or password in another encoding than UTF-8 keeps its bytes.
            pair = f"{user}:{password}".encode(errors="surrogateescape")
            self._headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        self._sender = HttpSender(
            timeout_seconds=_SECONDS_MAX, pauses=_PAUSES, retry_statuses=(500, 502, 503, 504)
        )

    def subjects(self) -> list[str]:
        """Return the names of all subjects, in order. Raises UnavailableError, QueryError."""
        found = self._get("/subjects")
        if not isinstance(found, list):
            raise QueryError("the registry does not list its subjects")
        return sorted(one for one in found if isinstance(one, str))

    def versions(self, subject: str) -> list[int]:
        """Return the versions of a subject, oldest first. Raises UnavailableError, QueryError."""
        found = self._get(f"/subjects/{quote(subject, safe='')}/versions")
        if not isinstance(found, list):
            raise QueryError(f"subject {subject[:200]!r} has no list of versions")
        return sorted(one for one in found if type(one) is int)

    def schema(self, subject: str, version: int) -> RegisteredSchema:
        """Return one version of a subject. Raises UnavailableError, QueryError."""
        found = self._get(f"/subjects/{quote(subject, safe='')}/versions/{version}")
        if not isinstance(found, dict) or not isinstance(found.get("schema"), str):
            raise QueryError(f"version {version} of subject {subject[:200]!r} has no schema")
        number = found.get("id")
        return RegisteredSchema(
            subject=subject,
            version=version,
            id=number if type(number) is int else 0,
            type=str(found.get("schemaType") or AVRO).upper(),
            text=found["schema"],
            references=tuple(_references(found.get("references"))),
        )

    def _get(self, path: str) -> Any:
        response = self._sender.send("GET", f"{self._url}{path}", None, self._headers)
        if response.status in (401, 403):
            raise QueryError(
                f"the registry answered {response.status}",
                hint="Set SCHEMA_REGISTRY_USER and SCHEMA_REGISTRY_PASSWORD, or "
                "SCHEMA_REGISTRY_TOKEN.",
            )
        if response.status >= 500:
            raise UnavailableError(f"the registry answered {response.status}")
        if not response.is_success:
            raise QueryError(f"the registry answered {response.status} to {path[:200]}")
        if len(response.body) > RESPONSE_BYTES_MAX:
            raise QueryError(f"the registry sent more than {RESPONSE_BYTES_MAX} bytes")
        try:
            return json.loads(response.body)
        except (ValueError, RecursionError) as error:
            raise QueryError(
                f"the registry did not send JSON to {path[:200]}",
                hint="Apicurio answers below /apis/ccompat/v7.",
            ) from error


def _references(found: Any) -> Iterator[Reference]:
    for one in found[:REFERENCES_MAX] if isinstance(found, list) else ():
        if isinstance(one, dict) and type(one.get("version")) is int:
            name, subject = one.get("name"), one.get("subject")
            if isinstance(name, str) and isinstance(subject, str):
                yield Reference(name, subject, one["version"])
