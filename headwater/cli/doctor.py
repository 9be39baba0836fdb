"""The command `doctor`: check everything that Headwater needs, one by one."""

from __future__ import annotations

import shutil
import socket
import ssl
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from headwater.certificate import ServerCertificate, context_of_own_server, days_left
from headwater.cli.options import connect, with_local_neo4j
from headwater.client.address import API_FILE
from headwater.errors import HeadwaterError
from headwater.settings import Settings

CERTIFICATE_DAYS_MIN = 30
DISK_BYTES_MIN = 2 * 2**30
# A detector writes at least every few seconds; under load its passes take longer.
DETECTOR_SECONDS_MAX = 900.0
# Server settings that keep a read-only query from more than reading (see docs/reference/cypher.md).
NEO4J_SETTINGS = {
    "dbms.security.allow_csv_import_from_file_urls": "false",
    "dbms.security.auth_enabled": "true",
}


class Check(NamedTuple):
    """One check: its finding, and a hint if it failed."""

    name: str
    ok: bool
    found: str
    hint: str = ""


def examine(settings: Settings) -> list[Check]:
    """Run every check, in the order in which a start needs them. Start and change nothing."""
    reached = with_local_neo4j(settings)
    checks: list[tuple[str, Callable[[], Check]]] = [
        ("versions", _versions),
        ("java", _java),
        ("jars", lambda: _jars(settings)),
        ("disk", lambda: _disk(settings)),
        ("encryption", lambda: _encryption(settings)),
        ("spool", lambda: _spool(settings)),
        ("api port", lambda: _port(settings)),
        ("tls", lambda: _tls(settings)),
        ("openid provider", lambda: _provider(settings)),
        ("neo4j", lambda: _neo4j(reached)),
        ("neo4j settings", lambda: _neo4j_settings(reached)),
        ("migrations", lambda: _migrations(reached)),
        ("findings", lambda: _findings(reached)),
    ]
    return [_checked(name, look) for name, look in checks]


def _checked(name: str, look: Callable[[], Check]) -> Check:
    try:
        return look()
    except HeadwaterError as error:
        return Check(name, False, error.message, error.hint)
    except ImportError as error:
        return Check(
            name, False, f"not installed: {error.name}", "pip install 'headwater[server,local]'"
        )


def _versions() -> Check:
    parts = (
        "headwater",
        "neo4j",
        "msgspec",
        "apsw",
        "starlette",
        "strawberry-graphql",
        "pyspark",
        "openlineage-python",
    )
    python = ".".join(map(str, sys.version_info[:3]))
    found = ", ".join(f"{part} {_version(part)}" for part in parts)
    return Check(
        "versions",
        sys.version_info >= (3, 11),
        f"Python {python}, {found}",
        "Install Python 3.11 or newer.",
    )


def _version(part: str) -> str:
    try:
        return version(part)
    except ModuleNotFoundError:
        return "absent"


def _java() -> Check:
    from headwater.local.java import find_java

    java = find_java()
    return Check("java", True, f"{java.version} at {java.program}")


def _jars(settings: Settings) -> Check:
    from headwater.local.jars import default_cache, missing_jars

    cache = settings.cache_path if settings.cache else default_cache()
    missing = missing_jars(cache)
    found = (
        f"{len(missing)} of Neo4j's jars are not in {cache}"
        if missing
        else f"all of Neo4j's are in {cache}"
    )
    return Check("jars", not missing, found, "Fetch them with `make setup` or `headwater neo4j`.")


def _disk(settings: Settings) -> Check:
    home = settings.home_path
    existing = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    return Check(
        "disk",
        free >= DISK_BYTES_MIN,
        f"{free / 2**30:.1f} GiB free for {home}",
        "Free 2 GiB or move --home.",
    )


def _encryption(settings: Settings) -> Check:
    from headwater.local.disk_encryption import disk_encryption

    folders = dict.fromkeys((settings.home_path, settings.spool_path.parent))
    plain = [disk for folder in folders if not (disk := disk_encryption(folder)).is_encrypted]
    found = [f"the disk of {disk.folder} is not encrypted ({disk.found})" for disk in plain]
    return Check(
        "encryption",
        not (plain and settings.require_encrypted_disk),
        ", ".join(found) or "the home and the spool are on encrypted disks",
        "Move the home to an encrypted volume: docs/how-to/encryption.md.",
    )


def _spool(settings: Settings) -> Check:
    from headwater.cli.render import with_noun
    from headwater.ingest.spool.spool import Spool

    if not settings.spool_path.exists():
        return Check(
            "spool", True, f"none yet at {settings.spool_path}; the first start creates it"
        )
    spool = Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)
    try:
        spool.check_writable()
        content = f"{with_noun(spool.last(), 'event')}, {spool.dead_count():,} dead-lettered"
        return Check("spool", True, f"{content}, at {settings.spool_path}")
    finally:
        spool.close()


def _port(settings: Settings) -> Check:
    name = "api port"
    certificate = Path(settings.tls_cert) if settings.tls_cert else None
    context = context_of_own_server(certificate) if certificate else None
    written = settings.home_path / API_FILE
    if written.is_file():
        url = written.read_text(encoding="utf-8").strip()
        hint = f"Remove {written} if no `headwater up` runs in this home."
        return Check(name, _is_headwater(url, context), f"this home's API is at {url}", hint)
    with socket.socket() as probe:
        probe.settimeout(1.0)
        taken = probe.connect_ex(("127.0.0.1", settings.port)) == 0
    if not taken:
        return Check(name, True, f"{settings.port} is free")
    if _is_headwater(f"{settings.scheme}://127.0.0.1:{settings.port}", context):
        return Check(name, True, f"Headwater answers on {settings.port}")
    return Check(
        name, False, f"another program listens on {settings.port}", "Choose another with --port."
    )


def _is_headwater(url: str, context: ssl.SSLContext | None) -> bool:
    import urllib.request

    try:
        with urllib.request.urlopen(f"{url}/", timeout=2, context=context) as answer:
            return b"Headwater" in answer.read(200)
    except (OSError, ValueError):
        return False


def _tls(settings: Settings) -> Check:
    if not settings.tls_cert:
        hint = "Set HEADWATER_TLS_CERT and HEADWATER_TLS_KEY, or HEADWATER_PROXY_ADDRESSES."
        found = f"none; the API listens on {settings.host}"
        return Check("tls", not settings.is_exposed, found, hint)
    client_ca = Path(settings.tls_client_ca) if settings.tls_client_ca else None
    certificate = ServerCertificate(Path(settings.tls_cert), Path(settings.tls_key), client_ca)
    days = days_left(certificate.expires)
    ends = "expired" if days < 0 else "expires"
    return Check(
        "tls",
        days >= CERTIFICATE_DAYS_MIN,
        f"the certificate {ends} at {certificate.expires:%Y-%m-%d %H:%M} UTC",
        f"Renew {settings.tls_cert}; a running API takes the new file by itself.",
    )


def _provider(settings: Settings) -> Check:
    from headwater.access.oidc.provider import read_published
    from headwater.access.oidc.roles import read_roles
    from headwater.cli.render import with_noun

    name = "openid provider"
    if not settings.oidc_issuer:
        return Check(name, True, "none; callers send API keys")
    read_roles(settings.oidc_roles_path, settings.oidc_groups_claim)
    settings.oidc_client_secret()
    published = read_published(settings.oidc_issuer)
    missing = [
        address
        for address in ("authorization_endpoint", "token_endpoint")
        if settings.oidc_client_id and address not in published.addresses
    ]
    if missing:
        return Check(name, False, f"{settings.oidc_issuer} publishes no {', '.join(missing)}")
    keys = with_noun(len(published.keys), "key")
    return Check(name, True, f"{keys} at {settings.oidc_issuer}")


def _neo4j(settings: Settings) -> Check:
    database = connect(settings)
    try:
        rows = database.ask(
            "CALL dbms.components() YIELD name, versions, edition RETURN versions[0] AS v, edition",
            {},
        )
    finally:
        database.close()
    found = f"{rows[0]['v']} {rows[0]['edition']} at {settings.neo4j_uri}"
    return Check(
        "neo4j",
        str(rows[0]["v"]).startswith("5."),
        found,
        "Use Neo4j 5.26, the version that Headwater is tested with.",
    )


def _neo4j_settings(settings: Settings) -> Check:
    database = connect(settings)
    try:
        rows = database.ask(
            "SHOW SETTINGS YIELD name, value WHERE name IN $names RETURN name, value",
            {"names": [*NEO4J_SETTINGS]},
        )
    finally:
        database.close()
    wrong = [row["name"] for row in rows if row["value"] != NEO4J_SETTINGS[row["name"]]]
    hint = "In neo4j.conf: " + ", ".join(f"{name}={NEO4J_SETTINGS[name]}" for name in wrong)
    return Check(
        "neo4j settings",
        not wrong,
        "unsafe: " + ", ".join(wrong) if wrong else "safe",
        hint,
    )


def _migrations(settings: Settings) -> Check:
    from headwater.cypher.migrate import check_not_newer, pending

    database = connect(settings)
    try:
        check_not_newer(database)
        missing = [query.name for query in pending(database)]
    finally:
        database.close()
    found = f"not applied: {', '.join(missing)}" if missing else "all applied"
    return Check("migrations", not missing, found, "Start a worker to apply them.")


def _findings(settings: Settings) -> Check:
    from headwater.health.findings.detector import read_state
    from headwater.lineage.view import GraphView

    database = connect(settings)
    try:
        state = read_state(GraphView(database))
        clock = database.read("read/state/clock")[0]["now"]
    finally:
        database.close()
    hint = "Run `headwater detect` beside the worker, and read its log."
    if state.passed_at is None:
        return Check("findings", True, "no detector has run on this graph")
    seconds = (clock - state.passed_at).total_seconds()
    found = f"in step with the graph {seconds:.0f} s ago"
    return Check("findings", seconds < DETECTOR_SECONDS_MAX, found, hint)
