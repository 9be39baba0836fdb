"""The addresses in settings: their forms, and errors that never print a password or a query."""

from __future__ import annotations

import re

from headwater.errors import SettingsError

# An origin as browsers send it (https://url.spec.whatwg.org/#origin).
_ORIGIN = re.compile(
    r"https?://([a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:]+\])(:[1-9][0-9]{0,4})?"
)
# The address of a page or an API, with or without a path.
ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[^\s?#]*)?")
# The beginning of an address, without a user and a password.
_HTTP_HOST = re.compile(r"https?://[^\s/?#@]+([/?#]|$)")
# An address of Neo4j (https://neo4j.com/docs/python-manual/5/connect-advanced/#_connection_uri).
# Only the schemes that route have parameters.
_NEO4J_URI = re.compile(
    r"(bolt|neo4j(?P<routes>))(\+s|\+ssc)?://([^\s/?#@:\[\]]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?/?"
    r"(?(routes)(\?[^\s#=&]+=[^\s#=&]+(&[^\s#=&]+=[^\s#=&]+)*)?)"
)
_DEFAULT_PORTS = (("http://", ":80"), ("https://", ":443"))


def split_list(text: str) -> frozenset[str]:
    """Return the parts of a setting that lists addresses, between commas or spaces."""
    return frozenset(filter(None, re.split(r"[\s,]+", text)))


def validate_neo4j_uri(uri: str) -> None:
    """Raise SettingsError if this is no address of a Neo4j."""
    if not _NEO4J_URI.fullmatch(uri):
        raise address_error(
            "NEO4J_URI",
            uri,
            "the address of a Neo4j",
            hint="Write for example bolt://127.0.0.1:7687 or neo4j+s://graph.example.com.",
            user_hint="Set HEADWATER_NEO4J_USER, and HEADWATER_NEO4J_PASSWORD or "
            "HEADWATER_NEO4J_PASSWORD_FILE.",
        )


def validate_public_url(url: str) -> None:
    """Raise SettingsError if this is no address of a page; "" is none."""
    if url and not ADDRESS.fullmatch(url):
        raise address_error(
            "PUBLIC_URL",
            url,
            "the address of a page",
            hint="Write for example https://headwater.example.com.",
        )


def validate_trace_url(url: str) -> None:
    """Raise SettingsError if this is no address of a trace; "" is none."""
    if url and not (_HTTP_HOST.match(url) and "{traceId}" in url):
        raise address_error(
            "TRACE_URL",
            url,
            "the address of a trace",
            hint="Write for example https://jaeger.example.com/trace/{traceId}.",
        )


def validate_origins(name: str, origins: str) -> None:
    """Raise SettingsError if one of these is no origin as browsers send it."""
    for origin in sorted(split_list(origins)):
        if not _ORIGIN.fullmatch(origin) or _has_default_port(origin):
            # A secret with a comma is in several parts, so the rule needs the whole value.
            raise address_error(
                name,
                origins if set("@?#") & set(origins) else origin,
                "an origin as browsers send it",
                hint="Write scheme, host in lower case, and the port unless it is the default: "
                "https://dash.example.com or http://localhost:3000. There is no wildcard.",
            )


def address_error(
    name: str,
    address: str,
    expected: str,
    *,
    hint: str,
    user_hint: str = "Remove what is before the @.",
) -> SettingsError:
    """Return the error of a malformed address, without one that may hold a password."""
    if "@" in address:
        return SettingsError(f"HEADWATER_{name} must not hold a user or a password", hint=user_hint)
    shown = without_query(address)
    return SettingsError(f"HEADWATER_{name} {shown!r} is not {expected}", hint=hint)


def without_query(address: str) -> str:
    """Return an address for an error: a query or a fragment, which may hold a secret, is `...`."""
    found = re.search(r"[?#]", address)
    return f"{address[: found.end()]}..." if found else address


def _has_default_port(origin: str) -> bool:
    """Return True if an origin names the default port of its scheme, which browsers omit."""
    return any(
        origin.startswith(scheme) and origin.endswith(port) for scheme, port in _DEFAULT_PORTS
    )
