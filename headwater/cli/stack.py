"""The whole stack on one machine: the local Neo4j, the API, the worker and the detector, each a
process of its own.

The API starts first and accepts events while Neo4j is away. A process that dies is restarted, and
so is a Neo4j that does not answer (`headwater.cli.neo4j_supervisor`). On a signal they end in order
(API, worker, detector, Neo4j), and nothing is left behind. There is one stack per home; a second
one is refused.
"""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.markup import escape

from headwater import own_python
from headwater.certificate import context_of_own_server
from headwater.cli.neo4j_supervisor import Neo4jSupervisor
from headwater.cli.up_lock import GUARD, up_lock
from headwater.client.address import API_FILE
from headwater.cypher.driver.database import Database
from headwater.cypher.driver.warmup import PLANNING_SECONDS_MAX
from headwater.errors import ServerError
from headwater.ingest.spool.spool import Spool
from headwater.local.home import write_private
from headwater.local.neo4j import LocalNeo4j, Running
from headwater.local.neo4j_settings import sizes_of_heap
from headwater.local.ports import bound_socket, require_free_port
from headwater.local.progress import show_jars
from headwater.local.signals import (
    delayed_signals,
    ignore_signals,
    interrupt_on_signals,
    restore_signals,
)
from headwater.local.startup import StartupWatch
from headwater.settings import Settings

# A start fails after this time without log output or processor time of any of the processes.
STALL_SECONDS = 120.0
READY_POLL_SECONDS = 0.1
# /readyz itself gives up after five seconds for each of two checks.
PROBE_SECONDS_MAX = 15.0
END_SECONDS_MAX = 8.0
RESTART_SECONDS = 1.0
# The exit codes of a process that did not fail, but was ended by a signal.
ENDED_FROM_OUTSIDE = frozenset({0, -signal.SIGHUP, -signal.SIGTERM, -signal.SIGKILL})


@contextmanager
def local_neo4j(
    settings: Settings, bolt_port: int, *, read_only: bool = False
) -> Iterator[tuple[LocalNeo4j, Running]]:
    """Run the home's local Neo4j, fetching its jars first if needed; end it on exit, also after a
    signal, if it was started here.
    """
    interrupt_on_signals()
    with ExitStack() as ends:
        with show_jars() as progress:
            server = LocalNeo4j(
                settings.home_path,
                bolt_port,
                sizes=sizes_of_heap(settings.neo4j_heap_mb, read_only=read_only),
                cache=settings.cache_path if settings.cache else None,
                progress=progress,
            )
            ends.callback(server.__exit__, None, None, None)
            running = server.start()
        yield server, running


class Stack:
    """A context manager that runs all four processes and ends them on exit."""

    def __init__(
        self,
        settings: Settings,
        *,
        bolt_port: int,
        console: Console | None = None,
        may_lack_neo4j: bool = False,
        rebuild_on_damage: bool = False,
    ) -> None:
        """Prepare a stack.

        Args:
            settings: The settings of the API, the worker and the detector.
            bolt_port: The port of Neo4j; 0 takes any free one.
            console: Where lines for the user go.
            may_lack_neo4j: Go on with the API alone if Neo4j does not start.
            rebuild_on_damage: Move data away that Neo4j cannot read.
        """
        self._settings = settings
        self._bolt_port = bolt_port
        self._console = console or Console(highlight=False)
        self._may_lack_neo4j = may_lack_neo4j
        self._rebuild_on_damage = rebuild_on_damage
        self._resources = ExitStack()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._environment: dict[str, str] = {}
        self._ending = False
        self._is_announced = False
        self.url = ""

    @cached_property
    def database(self) -> Database:
        """Return a connection of the stack's own, which is closed when the stack ends."""
        environment = self._environment
        database = Database(
            environment["HEADWATER_NEO4J_URI"],
            "neo4j",
            environment["HEADWATER_NEO4J_PASSWORD"],
            planning_seconds=PLANNING_SECONDS_MAX,
        )
        self._resources.callback(database.close)
        return database

    def __enter__(self) -> Stack:
        interrupt_on_signals()
        try:
            self._start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def announce(self) -> None:
        """Print the addresses."""
        print_line = self._console.print
        home, problem = self._settings.home_path, self._supervisor.problem
        self._is_announced = not problem
        if problem:
            print_line(f"[bold yellow]Headwater accepts events[/], without its graph   home {home}")
        else:
            print_line(f"[bold green]Headwater is up[/]   home {home}")
        print_line(f"  look          {self.url}   (the page, in a browser)")
        print_line(f"  send events   POST {self.url}/api/v1/lineage")
        print_line(f"  ask           {self.url}/graphql   (GraphiQL in a browser)")
        print_line(f"  Neo4j         {self._environment['HEADWATER_NEO4J_URI']}   user neo4j")
        print_line("  findings      headwater findings   (detected beside ingest)")
        print_line(f"  health        {self.url}/readyz   {self.url}/metrics")
        print_line("Ctrl-C ends all of them; accepted events are kept.")

    def watch(self) -> None:
        """Keep the API, the worker and the detector running until interrupted."""
        try:
            while True:
                for name, process in list(self._processes.items()):
                    if process.poll() is not None:
                        self._restart(name, process.returncode)
                if not self._is_announced and not self._supervisor.problem:
                    self.announce()
                time.sleep(0.2)
        except KeyboardInterrupt:
            self._console.print("ending ...")

    def _start(self) -> None:
        settings = self._settings
        home = settings.home_path
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._resources.enter_context(up_lock(home))
        self._start_guard()
        # An earlier `up` that was killed has left its address.
        (home / API_FILE).unlink(missing_ok=True)
        self._resources.callback((home / API_FILE).unlink, missing_ok=True)
        if settings.port:
            require_free_port(settings.port, "--port")
        self._prepare_neo4j()
        self._listener = self._resources.enter_context(bound_socket(settings.port, "--port"))
        port = self._listener.getsockname()[1]
        self.url = f"{settings.scheme}://127.0.0.1:{port}"
        self._environment |= {
            "HEADWATER_HOME": str(home),
            "HEADWATER_HOST": "127.0.0.1",
            "HEADWATER_PORT": str(port),
            # Alerts link to the page; on this machine without another address.
            "HEADWATER_PUBLIC_URL": settings.public_url or self.url,
        }
        self._start_supervisor()
        self._print_step("starting Neo4j and the API")
        self._spawn("serve")
        self._wait_for_api()
        write_private(home / API_FILE, self.url)
        self._print_step("the API accepts events; starting the worker and the detector")
        for name in ("worker", "detect"):
            self._spawn(name)
        self._wait_ready()

    def _prepare_neo4j(self) -> None:
        settings = self._settings
        with show_jars() as progress:
            # This process has the lock of the home, so a Neo4j of an earlier `up` has lost its
            # owner.
            self._neo4j = LocalNeo4j(
                settings.home_path,
                self._bolt_port,
                sizes=sizes_of_heap(settings.neo4j_heap_mb),
                cache=settings.cache_path if settings.cache else None,
                progress=progress,
                owner="up",
            )
            address = self._neo4j.prepare()
        self._resources.callback(self._neo4j.__exit__, None, None, None)
        self._environment = {
            **own_python.environment(),
            "HEADWATER_NEO4J_URI": address.uri,
            "HEADWATER_NEO4J_USER": address.user,
            "HEADWATER_NEO4J_PASSWORD": address.password,
        }

    def _start_supervisor(self) -> None:
        self._supervisor = Neo4jSupervisor(
            self._neo4j,
            self.database,
            problem_file=self._settings.neo4j_problem_path,
            report=self._report,
            on_damage=self._move_data,
        )
        self._resources.callback(self._supervisor.stop)
        self._supervisor.start()

    def _report(self, line: str) -> None:
        self._console.print(f"[yellow]{escape(line)}[/]")

    def _move_data(self) -> bool:
        """Move damaged data away, if the user allows it and the spool has every event."""
        if not self._rebuild_on_damage:
            return False
        spool = self._settings.spool_path
        if spool.is_file():
            with closing(Spool(spool, bytes_max=self._settings.spool_bytes_max)) as opened:
                cut, lake = opened.cut_events()
            if cut:
                self._report(
                    f"events 1 to {cut} are in the lake {lake}: end `headwater up`, and run "
                    "`headwater rebuild --remove-data`"
                )
                return False
        moved = self._neo4j.move_data()
        self._report(f"the damaged data is in {moved}; building the graph from the events")
        return True

    def _spawn(self, name: str) -> None:
        log = self._log(name)
        log.touch(mode=0o600)
        # This process keeps the socket of the API, so no event is refused during a restart.
        sockets = [self._listener.fileno()] if name == "serve" else []
        arguments = [name, str(os.getpid()), str(log), *map(str, sockets)]
        with log.open("ab") as output, delayed_signals():
            self._processes[name] = subprocess.Popen(
                own_python.command("-m", "headwater.cli.supervised", *arguments),
                env=self._environment,
                pass_fds=sockets,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # A Ctrl-C in the terminal reaches this process only; it ends the others in order.
                start_new_session=True,
            )

    def _restart(self, name: str, exit_code: int) -> None:
        self._console.print(f"[yellow]{name} ended with {exit_code}; restarting it[/]")
        time.sleep(RESTART_SECONDS)
        self._spawn(name)

    def _start_guard(self) -> None:
        """Start the process that ends Neo4j if this one is killed."""
        home, own = str(self._settings.home_path), str(os.getpid())
        with delayed_signals():
            guard = subprocess.Popen(
                own_python.command("-m", "headwater.cli.supervised", GUARD, home, own),
                env=own_python.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._resources.callback(guard.wait)
            self._resources.callback(guard.kill)

    def _wait_for_api(self) -> None:
        """Wait until the API accepts events."""
        self._wait(f"{self.url}/healthz", lambda: False)

    def _wait_ready(self) -> None:
        """Wait until the API is ready; with a Neo4j that fails, only if the stack may lack it."""
        self._wait(f"{self.url}/readyz", lambda: bool(self._supervisor.problem), has_api=True)
        if self._supervisor.problem and not self._may_lack_neo4j:
            raise ServerError(self._supervisor.problem, hint=self._supervisor.hint)

    def _wait(self, url: str, gives_up: Callable[[], bool], *, has_api: bool = False) -> None:
        """Wait for an address of the API, as long as one of the processes makes progress.

        A process that fails ends the start, but not an API that has accepted events before.
        """
        watches = [
            StartupWatch(process.pid, [self._log(name)], STALL_SECONDS)
            for name, process in self._processes.items()
        ]
        shown, context = "", own_context(self._settings)
        with self._console.status("starting") as status:
            while (obstacle := _obstacle(url, context)) and not gives_up():
                if obstacle != shown:
                    status.update(f"waiting: {escape(obstacle)}")
                    self._print_step(f"waiting: {obstacle}")
                    shown = obstacle
                for name, process in list(self._processes.items()):
                    if process.poll() is None:
                        continue
                    has_worked = has_api and name == "serve"
                    if process.returncode not in ENDED_FROM_OUTSIDE and not has_worked:
                        raise ServerError(
                            f"{name} ended with {process.returncode}: {self._tail(name)}"
                        )
                    self._restart(name, process.returncode)
                # Each watch must be asked each time, because it notes the progress then.
                stalled = [watch.is_stalled() for watch in watches]
                # The start of Neo4j has a watch of its own.
                if all(stalled) and not self._supervisor.is_starting:
                    raise ServerError(
                        f"the API is not ready, and nothing has moved for {STALL_SECONDS:.0f} s: "
                        f"{obstacle}\n{self._tail('serve')}",
                        hint=f"Read {self._log('worker')} too, and check with `headwater doctor`.",
                    )
                time.sleep(READY_POLL_SECONDS)

    def _print_step(self, text: str) -> None:
        """Print a step of the start on stderr, unless a terminal shows the steps as they change."""
        if not self._console.is_terminal:
            print(text, file=sys.stderr, flush=True)

    def _log(self, name: str) -> Path:
        return self._settings.home_path / f"{name}.log"

    def _tail(self, name: str) -> str:
        log = self._log(name)
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:]
        return "\n".join([*lines, f"(full log: {log})"])

    def _end(self) -> None:
        if self._ending:
            return
        self._ending = True
        ignore_signals()
        for process in self._processes.values():
            process.terminate()
        deadline = time.monotonic() + END_SECONDS_MAX
        for process in self._processes.values():
            try:
                process.wait(max(deadline - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._resources.close()
        restore_signals()


def own_context(settings: Settings) -> ssl.SSLContext | None:
    """Return the context of a client of the settings' own API; None without TLS."""
    return context_of_own_server(Path(settings.tls_cert)) if settings.tls_cert else None


def _obstacle(url: str, context: ssl.SSLContext | None = None) -> str:
    """Return the reason for which an API is not ready; empty if it is ready."""
    try:
        with urllib.request.urlopen(url, timeout=PROBE_SECONDS_MAX, context=context) as answer:
            return "" if answer.status == 200 else f"the API answers {answer.status}"
    except urllib.error.HTTPError as error:
        with error:
            return _failed_checks(error.read()) or f"the API answers {error.code}"
    except OSError:
        return "the API does not answer yet"


def _failed_checks(body: bytes) -> str:
    """Return the names and reasons of the failed checks in an answer of /readyz."""
    try:
        checks = json.loads(body)["checks"].items()
        return "; ".join(f"{name}: {check['reason']}" for name, check in checks if not check["ok"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""
