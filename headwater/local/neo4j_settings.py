"""The settings of a managed Neo4j: small, closed, bounded.

It listens on loopback only, needs a password, sends no usage report, and Cypher cannot read files
or the network. Each transaction has limits of time and memory. A test reads the settings from a
running server. The procedure allow-list applies to plugins; Neo4j's built-in procedures can always
be called.
"""

from __future__ import annotations

from dataclasses import dataclass

PROCEDURES_ALLOWED = (
    "db.awaitIndexes",
    "db.index.fulltext.*",
    "db.labels",
    "db.ping",
    "db.propertyKeys",
    "db.relationshipTypes",
    "db.schema.*",
    "dbms.components",
)


@dataclass(frozen=True)
class Sizes:
    """The limits of a managed Neo4j: memory in MiB and the time of a transaction in seconds.

    A statement is planned again when the graph has changed much and `replan_seconds` have passed.
    With `read_only` the server refuses every write.
    """

    heap_mb: int = 2_048
    page_cache_mb: int = 128
    transaction_mb: int = 1_024
    transaction_seconds: int = 900
    replan_seconds: int = 10
    read_only: bool = False


def sizes_of_heap(heap_mb: int, *, read_only: bool = False) -> Sizes:
    """Return the limits for a heap of that many MiB; a transaction may use half of it."""
    return Sizes(heap_mb=heap_mb, transaction_mb=heap_mb // 2, read_only=read_only)


def neo4j_settings(bolt_address: str, sizes: Sizes) -> dict[str, str]:
    """Return the settings of a managed Neo4j.

    Args:
        bolt_address: The address `host:port` of Bolt.
        sizes: The limits.

    Returns:
        Values by the name of the setting.
    """
    settings = {
        "server.default_listen_address": "127.0.0.1",
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": bolt_address,
        "server.bolt.advertised_address": bolt_address,
        "dbms.security.auth_enabled": "true",
        "dbms.security.allow_csv_import_from_file_urls": "false",
        # LOAD CSV also reads from the network, even in a read transaction: block all addresses.
        "internal.dbms.cypher_ip_blocklist": "0.0.0.0/0,::/0",
        "dbms.security.procedures.allowlist": ",".join(PROCEDURES_ALLOWED),
        "dbms.usage_report.enabled": "false",
        "server.memory.pagecache.size": f"{sizes.page_cache_mb}m",
        "db.memory.transaction.max": f"{sizes.transaction_mb}m",
        "db.transaction.timeout": f"{sizes.transaction_seconds}s",
        "dbms.cypher.min_replan_interval": f"{sizes.replan_seconds}s",
        # With preallocated logs an empty home has 512 MB; without them, 2 MB.
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.retention_policy": "1 days 256M",
        # The urn of a run with a UUID as id fills one block of the string store; Neo4j's default
        # blocks of 120 bytes would be mostly empty. An existing store keeps its block size.
        "internal.dbms.block_size.strings": "40",
        # A working server sends keep-alives, and the driver gives up after six seconds without one.
        # So a paused or starved server does not hang its clients.
        "server.bolt.connection_keep_alive": "3s",
        "server.bolt.connection_keep_alive_probes": "2",
        "server.bolt.connection_keep_alive_for_requests": "ALL",
        # The default quiet period would add ten seconds to every stop.
        "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",
        "internal.dbms.bolt.netty_server_shutdown_timeout": "2",
        "server.config.strict_validation.enabled": "true",
    }
    return {**settings, "server.databases.read_only": "neo4j"} if sizes.read_only else settings


def neo4j_conf(bolt_address: str, sizes: Sizes) -> str:
    """Return the settings as the text of a neo4j.conf.

    Args:
        bolt_address: The address `host:port` of Bolt.
        sizes: The limits.
    """
    lines = [f"{name}={value}" for name, value in neo4j_settings(bolt_address, sizes).items()]
    return (
        "# headwater.local writes this file at every start; changes here are lost.\n"
        + "\n".join(lines)
        + "\n"
    )
