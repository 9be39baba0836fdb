"""Questions to an API over HTTP, with its key; proxies of the environment are used."""

from __future__ import annotations

import json
import re
import ssl
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

from headwater.backoff import Backoff
from headwater.client.address import API_KEY, Address
from headwater.client.backend import Rows, data_of_answer, read_document
from headwater.errors import (
    ForbiddenError,
    HeadwaterError,
    NotFoundError,
    QueryError,
    UnauthorizedError,
    UnavailableError,
)
from headwater.transport import HttpSender, Response, bearer_headers

TIMEOUT_SECONDS = 60.0
# A question changes nothing, so it may be asked again.
BACKOFF = Backoff(first_seconds=0.3, max_seconds=2.0)
_REDIRECTS = range(300, 400)
_REASON_CHARACTERS_MAX = 300
_METRIC = re.compile(r"^(headwater_\w+) (\S+)$", re.MULTILINE)
_COUNTS = {
    "received": "headwater_events_received_total",
    "folded": "headwater_events_folded_total",
    "waiting": "headwater_spool_depth",
    "dead": "headwater_events_dead_total",
}
# The first words of graphql-core about a document that does not fit the schema.
_OTHER_SCHEMA = ("Cannot query field", "Unknown argument", "Unknown type", "Variable '$")


class RemoteBackend:
    """Questions that an API answers. Threads may share it.

    A question that gets no answer, or status 503, is asked again up to `retries` times.
    `timeout_seconds` is the limit of a question with its retries.
    """

    def __init__(
        self, address: Address, *, timeout_seconds: float = TIMEOUT_SECONDS, retries: int = 0
    ) -> None:
        self.address = address
        self._timeout_seconds = timeout_seconds
        self._sender = HttpSender(timeout_seconds=timeout_seconds, pauses=BACKOFF.pauses(retries))

    def status(self) -> dict[str, Any]:
        """Return the version and the readiness of the API, its events, and whether the key reads.

        Raises UnavailableError if it does not answer.
        """
        found = self.get("/readyz")
        checks = dict(self._field(found, "checks"))
        try:
            self.ask("search", text="", namespace="", tag="", owner="", first=0)
            checks["key"] = {"ok": True, "scope": "read"}
            checks["events"] = self._events()
        except HeadwaterError as error:
            checks["key"] = {"ok": False, "reason": error.message, "hint": error.hint}
        return {
            "at": self.address.url,
            "version": self._version(),
            "ready": bool(found["ready"]) and checks["key"]["ok"],
            "checks": checks,
        }

    def _events(self) -> dict[str, Any]:
        """Return the counts of events from the metrics."""
        headers = bearer_headers(self.address.api_key)
        response = self._send("GET", "/metrics", None, headers)
        values = dict(_METRIC.findall(response.body.decode("utf-8", "replace")))
        counts = {
            word: int(float(values[name])) for word, name in _COUNTS.items() if name in values
        }
        return {"ok": response.is_success, **counts}

    def count_waiting_events(self) -> int | None:
        """Return the number of accepted events that wait to be folded; None if it is unknown."""
        try:
            return int(self.ask("waiting_events")["platform"]["waiting"])
        except HeadwaterError:
            # An older server does not have the field, and no answer depends on it.
            return None

    def page_path(self) -> str:
        """Return the path of the page for browsers."""
        response = self._send("GET", "/", None, {"Accept": "text/html"})
        is_page = response.body.lstrip()[:1] == b"<"
        return "/" if response.is_success and is_page else "/graphql"

    def ask(self, document: str, /, **variables: Any) -> dict[str, Any]:
        """Return the data of a document. Raises HeadwaterError."""
        return self.ask_text(read_document(document), variables)

    def ask_text(self, query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the data of a GraphQL query. Raises HeadwaterError."""
        answer = self._post("/graphql", {"query": query, "variables": dict(variables)})
        try:
            return data_of_answer(answer)
        except ForbiddenError as error:
            if self.address.api_key:
                raise
            raise UnauthorizedError(
                f"{self.address.url} requires an API key", hint=self._key()
            ) from error
        except QueryError as error:
            if error.message.startswith(_OTHER_SCHEMA):
                raise self._other_version(error.message) from error
            raise

    def list_audits(self) -> list[dict[str, Any]]:
        """Return the audit queries."""
        return list(self._field(self.get("/cypher"), "queries"))

    def run_audit(self, name: str, parameters: Mapping[str, Any]) -> Rows:
        """Run an audit query."""
        name = name.removeprefix("audit/")
        return self._rows(self._post(f"/cypher/{quote(name, safe='')}", parameters))

    def run_statement(self, text: str, parameters: Mapping[str, Any]) -> Rows:
        """Run a Cypher statement of the caller."""
        return self._rows(self._post("/cypher", {"query": text, "parameters": parameters}))

    def assess(
        self,
        urn: str,
        changes: Sequence[Mapping[str, Any]],
        *,
        files: Mapping[str, str],
        dialect: str,
        include_stale: bool,
    ) -> dict[str, Any]:
        """Return the impact of changes to a dataset or job."""
        content = {
            "asset_id": urn,
            "proposed_changes": [{"urn": urn, **change} for change in changes],
            "files": files,
            "dialect": dialect,
            "include_stale": include_stale,
        }
        report = self._post("/v1/lineage/impact", content)
        for one in self._field(report, "affected_assets"):
            # The id of an asset means something to the REST API only; the urn names the node.
            del one["id"]
        return report

    def evidence(self, urn: str, *, at: datetime, depth: int) -> dict[str, Any]:
        """Return a sealed evidence pack."""
        query = urlencode({"urn": urn, "at": at.isoformat(), "depth": depth})
        return self.get(f"/api/v1/evidence?{query}")

    def get(self, path: str) -> dict[str, Any]:
        """Return the JSON object at a path. Raises HeadwaterError."""
        headers = bearer_headers(self.address.api_key)
        return self._parse(self._send("GET", path, None, headers))

    def _rows(self, content: Mapping[str, Any]) -> Rows:
        names = ("columns", "rows", "truncated")
        return Rows(*(self._field(content, name) for name in names))

    def _field(self, content: Mapping[str, Any], name: str) -> Any:
        """Return a field of an answer. Raises UnavailableError if the answer lacks it."""
        if name not in content:
            raise UnavailableError(
                f"{self.address.url} does not answer as a Headwater does: {name!r} is missing",
                hint="Check that the address is that of the API.",
            )
        return content[name]

    def _post(self, path: str, content: Any) -> dict[str, Any]:
        headers = bearer_headers(self.address.api_key)
        body = json.dumps(content).encode()
        return self._parse(self._send("POST", path, body, headers))

    def _send(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> Response:
        deadline = time.monotonic() + self._timeout_seconds
        try:
            url = self.address.url + path
            return self._sender.send(method, url, body, headers, deadline=deadline)
        except UnavailableError as error:
            raise self._unreachable(error) from error

    def _parse(self, response: Response) -> dict[str, Any]:
        """Return the content of a response. Raises the error that its status means."""
        content = _json_object(response)
        # GraphQL answers a refused document with 400 and the errors in the usual form.
        if content is not None and (response.is_success or "errors" in content):
            return content
        if content is not None and response.status == 503 and "checks" in content:
            return content
        raise self._refused(response, content)

    def _refused(self, response: Response, content: Mapping[str, Any] | None) -> HeadwaterError:
        url, status = self.address.url, response.status
        message, hint = _message_of(content)
        if status == 401:
            return UnauthorizedError(
                f"{url}: {message or 'an API key is needed'}", hint=self._key()
            )
        if status == 403:
            return ForbiddenError(f"{url}: {message or 'the key does not allow this'}", hint=hint)
        if status in _REDIRECTS:
            return QueryError(
                f"{url} redirects to another address (status {status})",
                hint="Name the address that answers, for example with https.",
            )
        if content is None:
            return UnavailableError(
                f"{url} does not answer as a Headwater does (status {status})",
                hint="Check that the address is that of the API, and not of a proxy or a page.",
            )
        if status == 404:
            return NotFoundError(message or f"{url} has nothing at this path", hint=hint)
        if status >= 500:
            return UnavailableError(f"{url}: {message or f'status {status}'}", hint=hint)
        return QueryError(message or f"{url} answered {status}", hint=hint)

    def _key(self) -> str:
        if self.address.api_key:
            return f"The key for {self.address.named_by} is not valid here; create another one."
        return f"Set {API_KEY}, or name a profile that has a key."

    def _unreachable(self, error: UnavailableError) -> UnavailableError:
        url, reason = self.address.url, error.__cause__
        if isinstance(reason, ssl.SSLCertVerificationError):
            return UnavailableError(
                f"the certificate of {url} is not trusted: {reason.verify_message}",
                hint="Name the file of its certificate authority in SSL_CERT_FILE.",
            )
        if isinstance(reason, ssl.SSLError):
            return UnavailableError(
                f"{url} does not speak TLS as expected: {reason.reason or reason}",
                hint="Check whether the address begins with http or https.",
            )
        if isinstance(reason, TimeoutError):
            return UnavailableError(
                f"{url} did not answer within {self._timeout_seconds:g} s",
                hint="Try again, or ask for less.",
            )
        return UnavailableError(
            f"{url} does not answer: {error.message}",
            hint=f"Check the address ({self.address.named_by}) and that the server runs.",
        )

    def _other_version(self, reason: str) -> QueryError:
        server = f"{self.address.url} has version {self._version()}"
        return QueryError(
            f"{server} and does not know this question: {reason}",
            hint="Use the command or the client of the same version.",
        )

    def _version(self) -> str:
        try:
            return str(self.get("/openapi.json")["info"]["version"])
        except (HeadwaterError, KeyError, TypeError):
            return "unknown"


def _json_object(response: Response) -> dict[str, Any] | None:
    """Return the body of a response if it is a JSON object, else None."""
    try:
        content = json.loads(response.body)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _message_of(content: Mapping[str, Any] | None) -> tuple[str, str]:
    """Return the message and the hint of an error body."""
    if content is None:
        return "", ""
    error = content.get("error")
    if isinstance(error, Mapping):
        return str(error.get("message") or ""), str(error.get("hint") or "")
    return str(content.get("detail") or "")[:_REASON_CHARACTERS_MAX], ""
