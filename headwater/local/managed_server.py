"""The common part of the managed servers: a home, a JVM with a mark, and use in a `with` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Generic, TypeVar

from headwater.errors import ServerError
from headwater.local import process
from headwater.local.home import Home
from headwater.local.jars import Progress, ignore_progress
from headwater.local.java import Java, find_java

R = TypeVar("R")


class ManagedServer(ABC, Generic[R]):
    """A server with its own process and home; `R` describes the running server."""

    def __init__(
        self,
        home: Home,
        property_name: str,
        *,
        cache: Path | None,
        java: Java | None,
        progress: Progress | None,
    ) -> None:
        """Prepare a server.

        Args:
            home: The folder of the server.
            property_name: A Java system property. Its value is the home, which identifies the JVM.
            cache: The folder of fetched jars; None is the user's cache.
            java: The Java to run; None finds one.
            progress: Called with the number of jars done and in all.
        """
        self.home = home
        self._cache = cache
        self._java = java
        self._progress = progress or ignore_progress
        self._mark = f"-D{property_name}={home.folder} "
        self._is_own = False

    @abstractmethod
    def start(self) -> R:
        """Find the running server of this home, or start one."""

    @abstractmethod
    def stop(self) -> None:
        """End the server of this home, whichever process started it."""

    def __enter__(self) -> R:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the server if this object started it; a server that was found continues to run."""
        if self._is_own:
            self.stop()

    def _find_java(self) -> Java:
        return self._java or find_java()

    def _is_running(self, pid: int) -> bool:
        return process.is_running(pid, self._mark)

    def _terminate(self, pid: int, timeout_seconds: float) -> None:
        process.terminate(pid, self._mark, timeout_seconds)

    def _require_ended(self, pid: int) -> None:
        if self._is_running(pid):
            raise ServerError(
                f"{self.home.program} (pid {pid}) does not end", hint=f"Run `kill -9 {pid}`."
            )

    def _end_error(self) -> ServerError:
        return ServerError(
            f"{self.home.program} ended while it started\n{self.home.log_tail()}",
            hint=self._log_hint(),
        )

    def _stall_error(self, stall_seconds: float) -> ServerError:
        return ServerError(
            f"{self.home.program} made no progress for {stall_seconds:.0f} s while it started\n"
            f"{self.home.log_tail()}",
            hint=self._log_hint(),
        )

    def _log_hint(self) -> str:
        return f"See {self.home.jvm_log.parent}; check Java, jars and ports: `headwater doctor`."
