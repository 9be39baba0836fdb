"""Commands that keep running: `up`, `serve`, `worker`, `neo4j`, `cypher-shell`."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.options import Home, connect, graph_settings, settings_of
from headwater.cli.passed_sockets import passed_sockets
from headwater.errors import HomeInUseError

if TYPE_CHECKING:
    from headwater.certificate import ServerCertificate
    from headwater.settings import Settings

# The largest message of a subscriber, and the time after which one that answers no ping is dropped.
WEBSOCKET_BYTES_MAX = 262_144
PING_SECONDS = 20.0
_SHELL, _SHELL_CLASS = "cypher-shell", "org.neo4j.shell.Main"
# On a busy machine the worker lets the API answer first, but is not starved.
WORKER_NICENESS = 5
# That of uvicorn's own command.
NOT_STARTED_EXIT_CODE = 3
Port = Annotated[
    int | None, typer.Option(help="Port of the API; 0 takes a free one.", show_default="8000")
]
BoltPort = Annotated[int, typer.Option(help="Port of Neo4j's Bolt; 0 takes a free one.")]


def up(
    home: Home = None,
    port: Port = None,
    bolt_port: BoltPort = 7687,
    rebuild_on_damage: Annotated[
        bool,
        typer.Option(
            "--rebuild-on-damage",
            help="Move data away that Neo4j cannot read, and build the graph from the events.",
        ),
    ] = False,
) -> None:
    """Run a local Neo4j, the API, the worker and the detector on this machine. Ctrl-C ends all.

    The API accepts events before Neo4j is up, and while Neo4j is restarted. A Neo4j that does not
    answer is restarted; one that stopped on a full disk, as soon as the disk has room."""
    from headwater.cli.stack import Stack

    settings = settings_of(home, port=port)
    protect_files(settings)
    with Stack(
        settings,
        bolt_port=bolt_port,
        may_lack_neo4j=True,
        rebuild_on_damage=rebuild_on_damage,
    ) as stack:
        stack.announce()
        stack.watch()


def serve(
    home: Home = None,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")
    ] = None,
    port: Port = None,
) -> None:
    """Run the API against the Neo4j of the settings.

    Sockets that systemd passes (LISTEN_FDS) are used instead of the address and port; a restart
    then refuses no connection."""
    settings = settings_of(home, host=host, port=port)
    protect_files(settings)
    share_metrics(settings)
    import uvicorn

    from headwater.logs.configure import start_logs
    from headwater.server import create_app

    start_logs(settings.log_level, settings.log_format)
    certificate = _certificate(settings)
    if certificate is not None:
        logging.getLogger("uvicorn.error").addFilter(name_https)
    if settings.is_exposed:
        typer.echo(
            f"warning: the API listens on {settings.host} without TLS, so keys and events can be "
            "read on the way. Set HEADWATER_TLS_CERT and HEADWATER_TLS_KEY, or "
            "HEADWATER_PROXY_ADDRESSES if a proxy in front of it speaks TLS.",
            err=True,
        )
    app = create_app(settings, certificate)
    server = uvicorn.Server(uvicorn.Config(app, **listening(settings, certificate)))
    sockets = passed_sockets()
    for one in sockets:
        logging.getLogger(__name__).info("listening_on_passed_socket address=%s", one.getsockname())
    with suppress(KeyboardInterrupt):
        server.run(sockets or None)
    if not server.started:
        raise typer.Exit(NOT_STARTED_EXIT_CODE)


def _certificate(settings: Settings) -> ServerCertificate | None:
    from headwater.certificate import ServerCertificate

    if not settings.tls_cert:
        return None
    client_ca = Path(settings.tls_client_ca) if settings.tls_client_ca else None
    return ServerCertificate(Path(settings.tls_cert), Path(settings.tls_key), client_ca)


def name_https(record: logging.LogRecord) -> bool:
    """Name https in uvicorn's line about its address; uvicorn itself has no certificate."""
    if isinstance(record.args, tuple) and record.args[:1] == ("http",):
        record.args = ("https", *record.args[1:])
    return True


def listening(settings: Settings, certificate: ServerCertificate | None = None) -> dict[str, Any]:
    """Return uvicorn's settings for the API."""
    from headwater.connections import BoundedWebSocket, bounded_protocol

    context = certificate.context if certificate else None
    return {
        "proxy_headers": bool(settings.proxies),
        "forwarded_allow_ips": sorted(settings.proxies),
        "http": bounded_protocol(settings.connections_max, context),
        "host": settings.host,
        "port": settings.port,
        "log_config": None,
        "log_level": settings.log_level.lower(),
        "access_log": settings.log_level.lower() == "debug",
        "timeout_graceful_shutdown": 3,
        "server_header": False,
        "ws": BoundedWebSocket,
        "ws_max_size": WEBSOCKET_BYTES_MAX,
        "ws_ping_interval": PING_SECONDS,
        "ws_ping_timeout": PING_SECONDS,
        "ws_per_message_deflate": False,
    }


def worker(home: Home = None) -> None:
    """Run the ingest worker, which folds the spool into the Neo4j of the settings."""
    os.nice(WORKER_NICENESS)
    settings = settings_of(home)
    protect_files(settings)
    share_metrics(settings)
    from headwater.health.metrics import observe_commit
    from headwater.health.own_spans import start_own_spans
    from headwater.ingest.spool.spool import Spool
    from headwater.ingest.time_limits import TimeLimits
    from headwater.ingest.worker import Worker
    from headwater.logs.configure import start_logs
    from headwater.schema.naming import load_naming

    start_logs(settings.log_level, settings.log_format)
    start_own_spans()
    database = connect(settings)
    spool = Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)
    folding = Worker(
        database,
        spool,
        events_max=settings.fold_events_max,
        naming=load_naming(settings.naming_path),
        limits=TimeLimits(
            settings.future_seconds,
            settings.heartbeat_timeout_seconds,
            settings.slow_event_seconds,
        ),
        on_commit=observe_commit,
    )

    set_on_signal(folding.stop)
    # The caches are large and live long; scanning them at every collection took a fifth of the
    # time.
    gc.set_threshold(2_000_000, 50, 100)
    # The thread that talks to Neo4j must not wait long for the thread that folds, or Neo4j waits
    # too.
    sys.setswitchinterval(0.0005)
    folding.run()
    spool.close()
    database.close()


def neo4j(
    home: Home = None,
    bolt_port: BoltPort = 7687,
    read_only: Annotated[
        bool,
        typer.Option("--read-only", help="Refuse every write, for auditors on a copy of a home."),
    ] = False,
) -> None:
    """Run only the local Neo4j, for cypher-shell, drivers, or `serve` and `worker` beside it.

    For example: headwater neo4j --home copy-of-home --read-only"""
    from rich.console import Console

    from headwater.cli.stack import local_neo4j

    settings = settings_of(home)
    ended = threading.Event()
    set_on_signal(ended)
    with local_neo4j(settings, bolt_port, read_only=read_only) as (_, running):
        if read_only and running.reused:
            raise HomeInUseError(
                f"another program runs the Neo4j in {settings.home_path}, and may write",
                hint="Stop it, or copy the home while it is stopped.",
            )
        console = Console(highlight=False)
        console.print(f"[bold]Neo4j[/] {running.uri}   user {running.user}")
        console.print(
            f"password in {settings.home_path / 'password'}"
            + ("   (was running)" if running.reused else "")
        )
        console.print(
            "Ctrl-C ends it." if not running.reused else "It keeps running after this command."
        )
        ended.wait()


def set_on_signal(event: threading.Event) -> None:
    def handle(_: int, __: FrameType | None) -> None:
        # A separate thread, because this one may hold the event's own lock now and would deadlock.
        threading.Thread(target=event.set, daemon=True).start()

    signal.signal(signal.SIGTERM, handle)
    signal.signal(signal.SIGINT, handle)


def protect_files(settings: Settings) -> None:
    """Let the process create files that only its user can read.

    Check also that the home and the spool are on encrypted disks, if the settings require it.
    Raises SettingsError.
    """
    os.umask(0o077)
    if settings.require_encrypted_disk:
        from headwater.local.disk_encryption import require_encrypted_disk

        require_encrypted_disk(settings.home_path, settings.spool_path.parent)


def share_metrics(settings: Settings) -> None:
    """Let the API and the worker share one folder of histograms. Call it before prometheus-client
    loads.
    """
    from headwater.health.multiprocess_metrics import share

    settings.home_path.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = Path(settings.home_path, "metrics")
    share(folder)
    from headwater.health.metrics import remove_ended_processes

    remove_ended_processes(folder)


def cypher_shell(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(help="Arguments of cypher-shell, after --.", metavar="ARGUMENTS"),
    ] = None,
    home: Home = None,
) -> None:
    """Open Neo4j's own shell on the graph, in read mode; the first call fetches it (43 MB).

    For example: headwater cypher failed_runs --print | headwater cypher-shell"""
    from headwater.local.jars import classpath, ensure_jars, read_lock
    from headwater.local.java import find_java
    from headwater.local.progress import show_jars

    settings, java, lock = graph_settings(home), find_java(), read_lock(_SHELL)
    with show_jars() as progress:
        cache = settings.cache_path if settings.cache else None
        folder = ensure_jars(cache, progress, lock=lock, java=java)
    os.environ["NEO4J_USERNAME"] = settings.neo4j_user
    os.environ["NEO4J_PASSWORD"] = settings.password()
    program = [str(java.program), "-cp", classpath(folder, lock), _SHELL_CLASS]
    address = ["--address", settings.neo4j_uri, "--database", settings.neo4j_database]
    os.execv(java.program, [*program, *address, "--access-mode", "read", *(arguments or [])])


COMMANDS = {
    "up": up,
    "serve": serve,
    "worker": worker,
    "neo4j": neo4j,
    "cypher-shell": cypher_shell,
}
