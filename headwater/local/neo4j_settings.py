"""What a local Neo4j is started with: small, closed, bounded.

Promises: loopback only, password needed, no usage report, no file or network reads from Cypher, and a
limit on every transaction's time and memory. A test reads them back from the running server.
The procedure allow-list governs plugins; Neo4j's built-in procedures are callable whatever it says.
"""

from __future__ import annotations

from dataclasses import dataclass

procedures_allowed = (
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
    heap_mb: int = 512
    page_cache_mb: int = 128
    transaction_mb: int = 256
    transaction_seconds: int = 120


def neo4j_settings(bolt_address: str, sizes: Sizes) -> dict[str, str]:
    return {
        "server.default_listen_address": "127.0.0.1",
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": bolt_address,
        "server.bolt.advertised_address": bolt_address,
        "dbms.security.auth_enabled": "true",
        "dbms.security.allow_csv_import_from_file_urls": "false",
        # LOAD CSV also reads from the network, inside what calls itself a read: no address is allowed.
        "internal.dbms.cypher_ip_blocklist": "0.0.0.0/0,::/0",
        "dbms.security.procedures.allowlist": ",".join(procedures_allowed),
        "dbms.usage_report.enabled": "false",
        "server.memory.pagecache.size": f"{sizes.page_cache_mb}m",
        "db.memory.transaction.max": f"{sizes.transaction_mb}m",
        "db.transaction.timeout": f"{sizes.transaction_seconds}s",
        # Preallocated logs would make an empty home 512 MB large; without them it is 2 MB.
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.retention_policy": "1 days 256M",
        # The urn of a run whose id is a UUID fills one block of a store's strings; of blocks of 120 bytes, Neo4j's own,
        # most would be empty. Heeded when a store is made: one that is there keeps the blocks it has.
        "internal.dbms.block_size.strings": "40",
        # While it works on a request it says so, and tells the driver to give up after six seconds of silence: a
        # server that is paused or starved must not hang its clients.
        "server.bolt.connection_keep_alive": "3s",
        "server.bolt.connection_keep_alive_probes": "2",
        "server.bolt.connection_keep_alive_for_requests": "ALL",
        # Waiting out the default quiet period makes every stop take ten seconds for nothing.
        "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",
        "internal.dbms.bolt.netty_server_shutdown_timeout": "2",
        "server.config.strict_validation.enabled": "true",
    }


def neo4j_conf(bolt_address: str, sizes: Sizes) -> str:
    lines = [f"{name}={value}" for name, value in neo4j_settings(bolt_address, sizes).items()]
    return (
        "# Written anew at every start by headwater.local; changes here are lost.\n"
        + "\n".join(lines)
        + "\n"
    )
