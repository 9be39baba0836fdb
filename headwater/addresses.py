"""Addresses in settings and options: their forms, and errors that print no password or query."""

from __future__ import annotations

import re

from headwater.errors import QueryError, SettingsError

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
# What may begin the address of files. Two stores have a name that is no secret before the @: the
# container of Azure, and Google's `anonymous`.
_BEGINNING = (
    r"(?:abfs|wasb)s?://[a-z0-9$-]{1,63}@|gc?s://anonymous@"
    r"|file:(?=/[^/])|[A-Za-z][A-Za-z0-9+.-]*://"
)
_AUTHORITY = r"(?:\[[0-9A-Za-z:.%]+\]|[^\s/?#@:;=%\\\[\]]*)(?::[0-9]{0,5})?"
# An address without a user, a password, a query and a fragment.
_PLAIN = re.compile(rf"(?:{_BEGINNING}){_AUTHORITY}(?:/(?:(?!%40)[^?#@;])*)?")
# A store may also have the name of a Hadoop user, and a path with an @ that ends no password.
_STORE = re.compile(
    rf"(?:(?:hdfs|viewfs)://[A-Za-z0-9_.-]+@|{_BEGINNING})"
    rf"{_AUTHORITY}(?:/(?![^?#]*:[^?#]*(?:@|%40))[^?#;]*(?<!@))?"
)
# A path, or hosts with ports: no colon begins a password in it.
_NAMES = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|:[0-9]{1,5}(?![^,/])|[^:;])*")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_USER = re.compile("@|%40")
# The options of pyarrow's stores (https://arrow.apache.org/docs/cpp/api/filesystem.html) that hold
# no secret.
_STORE_OPTION = re.compile(
    r"(?:allow_bucket_creation|allow_bucket_deletion|allow_delayed_open|blob_storage_authority"
    r"|blob_storage_scheme|buffer_size|check_directory_existence_before_creation"
    r"|default_block_size|dfs_storage_authority|dfs_storage_scheme|enable_tls|endpoint_override"
    r"|force_virtual_addressing|project_id|region|replication|retry_limit_seconds|scheme"
    r"|smart_defaults|tls_ca_file_path|tls_verify_certificates|user)=(?:(?!%40|%25)[^@&?#;])*"
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


def validate_store(address: str) -> None:
    """Raise QueryError if the address of files in a store may hold a secret.

    It is printed and stored, and backups have it too.
    """
    plain, mark, query = address.partition("?")
    options = query.split("&") if mark else []
    if not _STORE.fullmatch(plain) or not all(map(_STORE_OPTION.fullmatch, options)):
        raise QueryError(
            f"the address {shown(address)} must have the form s3://HOST/PATH, without a secret and "
            "with known options only",
            hint="Give the credentials to the client of the store, for example by AWS_PROFILE.",
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
    return SettingsError(f"HEADWATER_{name} {shown(address)!r} is not {expected}", hint=hint)


def is_plain(address: str) -> bool:
    """Return True for an address with a scheme, without a user, a password, a query or a fragment.

    The container of Azure, which is before an @, is no user.
    """
    return _PLAIN.fullmatch(address) is not None


def shown(address: str) -> str:
    """Return an address for an error: `...` stands for each part that may hold a secret.

    Such parts are a query, a fragment, and all behind the scheme if an @, a semicolon or no host
    follows it.
    """
    found = re.search(r"[?#]", address)
    base, rest = (address[: found.start()], address[found.start() :]) if found else (address, "")
    scheme = _SCHEME.match(address)
    is_name = not scheme and not _USER.search(base) and _NAMES.fullmatch(base)
    is_harmless = is_plain(base) or is_name
    if not is_harmless or _USER.search(rest):
        return f"{scheme[0] if scheme else ''}..."
    return f"{base}{rest[:1]}..." if rest else base


def _has_default_port(origin: str) -> bool:
    """Return True if an origin names the default port of its scheme, which browsers omit."""
    return any(
        origin.startswith(scheme) and origin.endswith(port) for scheme, port in _DEFAULT_PORTS
    )
