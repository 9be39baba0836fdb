"""Every setting, read once from the environment: `HEADWATER_` and the name in capitals.

An unknown `HEADWATER_` variable, a value of the wrong type, or an unsafe combination stops the
program with an error that names it. Durations are in seconds, sizes in bytes.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from headwater.addresses import (
    ADDRESS,
    address_error,
    split_list,
    validate_neo4j_uri,
    validate_origins,
    validate_public_url,
    validate_trace_url,
)
from headwater.errors import SettingsError
from headwater.schema.events import is_utf8
from headwater.schema.settings_files import read_settings_file

PREFIX = "HEADWATER_"
# Read by the jar resolver, by clients, and by Spark jobs.
_OTHERS = frozenset(
    {"HEADWATER_API_KEY", "HEADWATER_IVY_SETTINGS", "HEADWATER_PROFILE", "HEADWATER_URL"}
)
_PATH = re.compile(r"`\$\.(\w+)`")
# Never printed.
_SECRET = frozenset({"alert_webhooks", "alertmanager", "neo4j_password", "redaction_key"})
# With a shorter key, hashed values could be found by trying keys.
REDACTION_KEY_CHARACTERS_MIN = 16
SKEW_SECONDS_MAX = 600  # A token stays valid so much longer.
# Schemes of Neo4j with TLS and a checked certificate.
ENCRYPTED_SCHEMES = ("bolt+s", "neo4j+s")
LOG_FORMATS = ("console", "json")
LOG_LEVELS = ("debug", "info", "warning", "error", "critical")
FILE_SETTINGS = ("naming_file", "alert_receivers", "persisted_queries")  # Each names a file.
_ABOVE_ZERO = (  # noqa: SIM905
    "event_bytes_max batch_bytes_max spool_bytes_max fold_events_max "
    "query_cost_max session_seconds heartbeat_timeout_seconds slow_event_seconds "
    "neo4j_heap_mb connections_max body_memory_max log_bytes_max log_files_max"
).split()
_FROM_ZERO = (  # noqa: SIM905
    "storage_price storage_cost_target requests_per_second events_per_second "
    "requests_at_once shared_requests failed_sign_ins_per_minute"
).split()
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings. The defaults suit one machine, with everything on loopback."""

    # Folder of the spool, and of the local Neo4j and its password.
    home: str = "~/.headwater"
    # Folder of resolved jars; empty: the cache folder of the user.
    cache: str = ""
    # Address of the API. Outside of loopback it requires keys, and does not start without one.
    host: str = "127.0.0.1"
    port: int = 8000
    # Require keys on loopback too.
    require_keys: bool = False
    # A file for the first key, with scopes ingest and read, if keys are required and none exists.
    first_key_file: str = ""
    # Let every caller use the API: in a private network, or behind a proxy that authenticates.
    allow_anonymous: bool = False
    # Files of the certificate and its key, in PEM: the API then speaks TLS.
    tls_cert: str = ""
    tls_key: str = ""
    # A file with the authority of client certificates: sending events then needs one.
    tls_client_ca: str = ""
    # IP addresses and networks of reverse proxies: `X-Forwarded-*` counts from them only.
    proxy_addresses: str = ""
    neo4j_uri: str = "bolt://127.0.0.1:7687"
    neo4j_user: str = "neo4j"
    neo4j_password: str = ""
    # Start only if the home and the spool are on encrypted disks (docs/how-to/encryption.md).
    require_encrypted_disk: bool = False
    # A file with the password, so that it is not in the environment.
    neo4j_password_file: str = ""
    neo4j_database: str = "neo4j"
    # A file with the authority of Neo4j's certificate, for bolt+s and neo4j+s; empty: the system's.
    neo4j_ca: str = ""
    # Memory of the Neo4j that `headwater up` runs, in MiB. A transaction may use half of it.
    neo4j_heap_mb: int = 2_048
    # The spool file; empty: `spool.db` in the home.
    spool: str = ""
    # The API answers 503 if the spool exceeds this size.
    spool_bytes_max: int = 20 * 2**30
    # Key of the hashes of e-mail addresses and card numbers; empty: a key created beside the spool.
    redaction_key: str = ""
    # Further classes of personal data to hash: iban, ssn, phone, phone:DE, name; empty: none.
    redaction_classes: str = "iban,ssn,phone"
    # How long a session of the page lasts.
    session_seconds: int = 43_200
    # The issuer of an OpenID provider whose tokens callers may send, and the audience that these
    # tokens must name (docs/how-to/sign-in.md); empty: API keys only.
    oidc_issuer: str = ""
    oidc_audience: str = ""
    # The client by which people sign in to the page; empty: with API keys only.
    oidc_client_id: str = ""
    # A file with the secret of the client; empty: a public client.
    oidc_client_secret_file: str = ""
    # The name of the provider on the button of the page; empty: the host of the issuer.
    oidc_name: str = ""
    # What the page asks the provider for.
    oidc_scopes: str = "openid profile email"
    # The claim with the groups of a caller; a dot leads into an object: `realm_access.roles`.
    oidc_groups_claim: str = "groups"
    # A TOML file that maps groups and claims to roles and namespaces; empty: the group
    # `headwater-viewer` has the role viewer, and so on.
    oidc_roles_file: str = ""
    # How far the clock of the provider may be off.
    oidc_skew_seconds: int = 60
    # The largest event, and the largest batch, after unpacking.
    event_bytes_max: int = 10 * 2**20
    batch_bytes_max: int = 100 * 2**20
    # Events that the worker folds into one transaction.
    fold_events_max: int = 2_000
    # A file with naming rules of the user (docs/naming.md).
    naming_file: str = ""
    # A run without an end is abandoned if no event of it arrives for this long.
    heartbeat_timeout_seconds: int = 86_400
    # Open connections of the API, and the bytes of all bodies that it holds at one time.
    connections_max: int = 1_000
    body_memory_max: int = 256 * 2**20
    # Limits of each caller (docs/how-to/limits.md), for one without limits of its own; 0: none.
    requests_per_second: float = 0.0
    events_per_second: float = 0.0
    requests_at_once: int = 0
    # The requests in work that active callers with keys share at one time; 0: no shares.
    shared_requests: int = 32
    # Failed sign-ins of one address within a minute; further ones get 429. 0: no bound.
    failed_sign_ins_per_minute: int = 10
    # Names by which clients without keys may call this server, separated by commas.
    allowed_hosts: str = ""
    # An event whose transaction timed out is tried a last time, alone, with this time limit; then
    # it becomes a dead letter.
    slow_event_seconds: int = 300
    # An event dated this much after its receipt counts as one from the future: it is ordered by its
    # receipt.
    future_seconds: int = 60
    # Accept events without an event time, ordered by their receipt.
    allow_missing_event_time: bool = False
    # Hold the lineage graph in memory (docs/decisions/0013).
    lineage_cache: bool = True
    # Origins of the pages on other hosts that may use the API in a browser, separated by commas:
    # `https://dash.example.com`. Each is exact.
    cors_origins: str = ""
    # Origins of the pages that may show tiles in a frame, separated by commas; empty: none.
    tile_origins: str = ""
    # Maximum number of values in the response to a GraphQL query.
    query_cost_max: int = 100_000
    # The price of a gigabyte of storage for a month, and the cost per million events to stay below,
    # both in one currency (docs/reference/service-levels.md, M10).
    storage_price: float = 0.1
    storage_cost_target: float = 1.0
    # Folder of the code that registered assets point to; empty: no code is read.
    repository_root: str = ""
    # Queries that can be requested by name or hash: a JSON file or a folder of .graphql files.
    persisted_queries: str = ""
    # Answer only persisted queries.
    persisted_only: bool = False
    # The directory of the policies (docs/how-to/policies.md); empty: `policies` in the home.
    policies: str = ""
    # Consumers that are tests: patterns of their namespaces and names, separated by commas.
    test_consumers: str = ""
    # A job that reads a stream may be this many records behind its end (docs/how-to/streams.md).
    stream_lag_limit: int = 10_000
    # Where alerts are sent (docs/how-to/alerts.md): addresses of webhooks, separated by commas.
    alert_webhooks: str = ""
    # The address of an Alertmanager: `http://127.0.0.1:9093`.
    alertmanager: str = ""
    # A TOML file with more receivers.
    alert_receivers: str = ""
    # The address at which people open the page, for the links in alerts; empty: no links.
    public_url: str = ""
    # The address of a trace in the tool that shows it, with `{traceId}` for its id; empty: no
    # links.
    trace_url: str = ""
    log_level: str = "info"
    # The form of log lines: console or json (docs/how-to/logs.md).
    log_format: str = "console"
    # `headwater up` begins a new log file after this many bytes, and keeps this many files of each
    # process.
    log_bytes_max: int = 20 * 2**20
    log_files_max: int = 5

    def __repr__(self) -> str:
        shown = (
            f"{name}={value!r}"
            for name, value in msgspec.structs.asdict(self).items()
            if name not in _SECRET
        )
        return f"Settings({', '.join(shown)})"

    @property
    def home_path(self) -> Path:
        return Path(self.home).expanduser()

    @property
    def spool_path(self) -> Path:
        return Path(self.spool).expanduser() if self.spool else self.home_path / "spool.db"

    @property
    def redaction_key_path(self) -> Path:
        return self.spool_path.with_name("redaction.key")

    @property
    def access_path(self) -> Path:
        """Return the path of the API keys and the access log."""
        return self.spool_path.with_name("access.db")

    @property
    def forgotten_path(self) -> Path:
        """Return the path of the records of forgotten values."""
        return self.spool_path.with_name("forgotten.json")

    @property
    def audit_key_path(self) -> Path:
        """Return the path of the private key that signs heads of the access log."""
        return self.spool_path.with_name("audit.key")

    @property
    def session_key_path(self) -> Path:
        """Return the path of the secret that signs the sessions of the page."""
        return self.spool_path.with_name("session.key")

    @property
    def oidc_roles_path(self) -> Path | None:
        return Path(self.oidc_roles_file).expanduser() if self.oidc_roles_file else None

    @property
    def keys_required(self) -> bool:
        """Return True if every request needs a key."""
        return self.require_keys or (self.host not in LOOPBACK and not self.allow_anonymous)

    @property
    def scheme(self) -> str:
        """Return the scheme of the API's own address: http or https."""
        return "https" if self.tls_cert else "http"

    @property
    def is_exposed(self) -> bool:
        """Return True if the API listens outside of loopback, without TLS and without a proxy."""
        return self.host not in LOOPBACK and not self.tls_cert and not self.proxies

    @property
    def proxies(self) -> frozenset[str]:
        return split_list(self.proxy_addresses)

    @property
    def tile_key_path(self) -> Path:
        """Return the path of the secret that signs the addresses of tiles."""
        return self.spool_path.with_name("tile.key")

    @property
    def tile_origin_set(self) -> frozenset[str]:
        return split_list(self.tile_origins)

    @property
    def cache_path(self) -> Path:
        if self.cache:
            return Path(self.cache).expanduser()
        return Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "headwater"

    @property
    def allowed_origins(self) -> frozenset[str]:
        return split_list(self.cors_origins)

    @property
    def host_names(self) -> frozenset[str]:
        return split_list(self.allowed_hosts.lower())

    @property
    def naming_path(self) -> Path | None:
        return Path(self.naming_file).expanduser() if self.naming_file else None

    @property
    def repository_path(self) -> Path | None:
        return Path(self.repository_root).expanduser() if self.repository_root else None

    @property
    def neo4j_problem_path(self) -> Path:
        return self.home_path / "neo4j.problem"

    @property
    def alert_receivers_path(self) -> Path | None:
        return Path(self.alert_receivers).expanduser() if self.alert_receivers else None

    @property
    def persisted_path(self) -> Path | None:
        return Path(self.persisted_queries).expanduser() if self.persisted_queries else None

    def password(self) -> str:
        """Return the password of Neo4j. Raises SettingsError if its file cannot be read."""
        if not self.neo4j_password_file:
            return self.neo4j_password
        return _secret_in("NEO4J_PASSWORD_FILE", self.neo4j_password_file)

    def oidc_client_secret(self) -> str:
        """Return the secret of the client, "" for a public one.

        Raises SettingsError if its file cannot be read.
        """
        if not self.oidc_client_secret_file:
            return ""
        return _secret_in("OIDC_CLIENT_SECRET_FILE", self.oidc_client_secret_file)


def _secret_in(name: str, path: str) -> str:
    """Return the text of a file. Raises SettingsError if it cannot be read."""
    try:
        return read_settings_file(Path(path).expanduser()).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{PREFIX}{name}: {error}") from error


def changed_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that differ from the defaults, without secrets."""
    default = msgspec.structs.asdict(Settings())
    return {
        name: value
        for name, value in msgspec.structs.asdict(settings).items()
        if name not in _SECRET and value != default[name]
    }


def load(environment: Mapping[str, str], **overrides: Any) -> Settings:
    """Load the settings from an environment; an override that is not None wins. Raises
    SettingsError.
    """
    known = {field.name for field in msgspec.structs.fields(Settings)}
    values: dict[str, Any] = {}
    for variable, value in environment.items():
        if not variable.startswith(PREFIX) or variable in _OTHERS:
            continue
        # An empty folder would be the current one.
        if variable == "HEADWATER_HOME" and not value:
            continue
        name = variable.removeprefix(PREFIX).lower()
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            meant = f" Did you mean {PREFIX}{close[0].upper()}?" if close else ""
            raise SettingsError(
                f"{variable} is an unknown setting.{meant}",
                hint="docs/reference/settings.md lists them.",
            )
        values[name] = value
    values |= {name: value for name, value in overrides.items() if value is not None}
    if not values.get("home", "~"):
        raise SettingsError("--home is empty", hint="Name a folder, or omit --home.")
    for name, value in values.items():
        if isinstance(value, str) and not is_utf8(value):
            raise SettingsError(f"{PREFIX}{name.upper()} is not UTF-8")
    try:
        settings = msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as error:
        wrong = _PATH.search(str(error))
        name = f"{PREFIX}{wrong.group(1).upper()}" if wrong else "a setting"
        raise SettingsError(
            f"{name} is malformed: {error}", hint="docs/reference/settings.md lists them."
        ) from error
    _validate(settings)
    return settings


def _validate(settings: Settings) -> None:
    if settings.require_keys and settings.allow_anonymous:
        raise SettingsError(
            "HEADWATER_REQUIRE_KEYS and HEADWATER_ALLOW_ANONYMOUS exclude each other"
        )
    for name in _ABOVE_ZERO:
        if getattr(settings, name) <= 0:
            raise SettingsError(f"{PREFIX}{name.upper()} must be above 0")
    if 0 < len(settings.redaction_key) < REDACTION_KEY_CHARACTERS_MIN:
        raise SettingsError(
            f"HEADWATER_REDACTION_KEY must have {REDACTION_KEY_CHARACTERS_MIN} characters or more"
        )
    for name, origins in (
        ("CORS_ORIGINS", settings.cors_origins),
        ("TILE_ORIGINS", settings.tile_origins),
    ):
        validate_origins(name, origins)
    for name in _FROM_ZERO:
        if not 0 <= getattr(settings, name) < float("inf"):
            raise SettingsError(f"{PREFIX}{name.upper()} must be a number from 0")
    validate_neo4j_uri(settings.neo4j_uri)
    _validate_tls(settings)
    _validate_logs(settings)
    if settings.spool and not Path(settings.spool).name:
        raise SettingsError(
            f"HEADWATER_SPOOL {settings.spool!r} is a folder",
            hint="Name a file in it: spool.db.",
        )
    validate_public_url(settings.public_url)
    validate_trace_url(settings.trace_url)
    _validate_oidc(settings)
    if settings.stream_lag_limit < 0:
        raise SettingsError("HEADWATER_STREAM_LAG_LIMIT must not be below 0")
    if settings.future_seconds < 0:
        raise SettingsError("HEADWATER_FUTURE_SECONDS must not be below 0")
    if not 0 <= settings.port <= 65_535:
        raise SettingsError(f"HEADWATER_PORT {settings.port} must be from 0 to 65535")


def _validate_logs(settings: Settings) -> None:
    if settings.log_format not in LOG_FORMATS:
        raise SettingsError(
            f"HEADWATER_LOG_FORMAT {settings.log_format!r} must be {' or '.join(LOG_FORMATS)}"
        )
    if settings.log_level.lower() not in LOG_LEVELS:
        raise SettingsError(
            f"HEADWATER_LOG_LEVEL {settings.log_level!r} is unknown",
            hint=f"Choose one of {', '.join(LOG_LEVELS)}.",
        )


def _validate_tls(settings: Settings) -> None:
    if bool(settings.tls_cert) != bool(settings.tls_key):
        raise SettingsError(
            "HEADWATER_TLS_CERT and HEADWATER_TLS_KEY belong together, and one is missing",
            hint="Name the file of the certificate and the file of its key.",
        )
    if settings.tls_client_ca and not settings.tls_cert:
        raise SettingsError("HEADWATER_TLS_CLIENT_CA needs HEADWATER_TLS_CERT and its key")
    for proxy in settings.proxies:
        try:
            ip_network(proxy)
        except ValueError:
            hint = "Write for example 10.0.0.5 or 10.0.0.0/24."
            # A password with a comma is in several parts, so the rule needs the whole value. The
            # cause would print it too.
            raise address_error(
                "PROXY_ADDRESSES",
                settings.proxy_addresses,
                "a list of IP addresses and networks",
                hint=hint,
                user_hint=hint,
            ) from None
    scheme = settings.neo4j_uri.partition("://")[0]
    if settings.neo4j_ca and scheme not in ENCRYPTED_SCHEMES:
        raise SettingsError(
            f"HEADWATER_NEO4J_CA needs an address of Neo4j with TLS, and the scheme is {scheme!r}",
            hint="Write HEADWATER_NEO4J_URI as neo4j+s://HOST:7687 or bolt+s://HOST:7687.",
        )


def _validate_oidc(settings: Settings) -> None:
    if not 0 <= settings.oidc_skew_seconds <= SKEW_SECONDS_MAX:
        raise SettingsError(f"HEADWATER_OIDC_SKEW_SECONDS must be from 0 to {SKEW_SECONDS_MAX}")
    issuer = settings.oidc_issuer
    if not issuer:
        for name in (
            "oidc_audience",
            "oidc_client_id",
            "oidc_client_secret_file",
            "oidc_roles_file",
        ):
            if getattr(settings, name):
                raise SettingsError(f"{PREFIX}{name.upper()} needs HEADWATER_OIDC_ISSUER")
        return
    try:
        is_loopback = urlsplit(issuer).hostname in LOOPBACK
    except ValueError:
        is_loopback = False
    if not ADDRESS.fullmatch(issuer) or not (issuer.startswith("https://") or is_loopback):
        raise address_error(
            "OIDC_ISSUER",
            issuer,
            "the address of an issuer",
            hint="Write it as the provider does, with https: https://idp.example.com/realms/data.",
        )
    if not settings.oidc_audience:
        raise SettingsError(
            "HEADWATER_OIDC_ISSUER needs HEADWATER_OIDC_AUDIENCE",
            hint="Set the audience that the provider writes into the tokens for Headwater.",
        )
    if settings.oidc_client_id and not settings.public_url:
        raise SettingsError(
            "HEADWATER_OIDC_CLIENT_ID needs HEADWATER_PUBLIC_URL, to which the provider returns"
        )
