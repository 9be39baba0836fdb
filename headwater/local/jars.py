"""The jars of a server in the user's cache, as pinned in its lock file (`neo4j.lock`, ...).

`ensure_jars` fetches missing jars once. Later calls compare sizes and times with a stamp (a few
milliseconds) and use no network. A jar is in the folder only if its sha256 is the pinned one. It is
moved there by rename, so Ctrl-C or kill -9 leaves no partial file. Two processes at once fetch
once. A jar with other content is refused, whether new or already there. Layout:
`<cache>/<server>-<version>/*.jar`, its `stamp.json`, and `<cache>/<server>-<version>.lock`.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.resources
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import JarError
from headwater.local.ivy import Jar, fetch
from headwater.local.java import Java, find_java

Progress = Callable[[int, int], None]


def ignore_progress(done: int, total: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class LockFile:
    """A parsed lock file: a server, its version, its jars, and the hash of the file."""

    server: str
    version: str
    jars: tuple[Jar, ...]
    sha256: str


def read_lock(server: str = "neo4j") -> LockFile:
    """Read a lock file of this package.

    Args:
        server: The name of the lock file: neo4j, kafka or spark-kafka.

    Returns:
        The pinned jars.
    """
    text = (importlib.resources.files("headwater.local") / f"{server}.lock").read_text()
    version, jars = "", []
    for line in text.splitlines():
        if line.startswith(f"# {server} "):
            version = line.split()[2]
        elif line and not line.startswith("#"):
            name, sha256, size = line.split()
            group, artifact, jar_version, *classifier = name.split(":")
            jars.append(Jar(group, artifact, jar_version, "".join(classifier), sha256, int(size)))
    return LockFile(server, version, tuple(jars), hashlib.sha256(text.encode()).hexdigest())


def default_cache(environ: Mapping[str, str] | None = None) -> Path:
    """Return the user's cache folder of Headwater.

    Args:
        environ: The environment; None is that of this process.
    """
    environ = os.environ if environ is None else environ
    root = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME", "~")).expanduser() / ".cache"
    return Path(root) / "headwater"


def ensure_jars(
    cache: Path | None = None,
    progress: Progress = ignore_progress,
    *,
    lock: LockFile | None = None,
    java: Java | None = None,
    ivy_settings: Path | None = None,
) -> Path:
    """Fetch the missing jars of a server.

    Args:
        cache: The cache folder; None is the user's.
        progress: Called with the number of jars done and in all.
        lock: The pinned jars; None are those of Neo4j.
        java: The Java for the download; None finds one.
        ivy_settings: An Ivy settings file; None is HEADWATER_IVY_SETTINGS, else the public
            repository.

    Returns:
        The folder with all jars, checked.

    Raises:
        JarError: A jar cannot be fetched, or its hash is wrong.
        JavaError: There is no Java 17 or 21.
    """
    lock = lock or read_lock()
    cache = cache or default_cache()
    folder = cache / f"{lock.server}-{lock.version}"
    if _stamp_holds(folder, lock):
        return folder
    if ivy_settings is None and os.environ.get("HEADWATER_IVY_SETTINGS"):
        ivy_settings = Path(os.environ["HEADWATER_IVY_SETTINGS"])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _exclusive(cache / f"{folder.name}.lock"):
            if not _stamp_holds(folder, lock):
                _fill(folder, lock, progress, java, ivy_settings)
    except OSError as error:
        raise JarError(
            f"{folder} cannot be used: {error}", hint="Free space, or set HEADWATER_CACHE."
        ) from error
    return folder


def classpath(folder: Path, lock: LockFile | None = None) -> str:
    """Return the class path of a server; it names each jar, so stray files are not loaded.

    Args:
        folder: The folder of the jars.
        lock: The pinned jars; None are those of Neo4j.
    """
    return ":".join(str(folder / jar.file_name) for jar in (lock or read_lock()).jars)


def _fill(
    folder: Path, lock: LockFile, progress: Progress, java: Java | None, settings: Path | None
) -> None:
    missing = [jar for jar in lock.jars if not _checked(folder / jar.file_name, jar)]
    done = len(lock.jars) - len(missing)
    progress(done, len(lock.jars))
    for leftover in folder.glob(".fetch-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    workspace = Path(tempfile.mkdtemp(prefix=".fetch-", dir=folder))
    fetched: list[str] = []
    report_lock = threading.Lock()

    def on_fetched(jar: Jar, file: Path) -> None:
        if _sha256(file) != jar.sha256:
            raise JarError(
                f"the file fetched as {jar.coordinates} has another sha256 than the pinned one",
                hint="A mirror or proxy changes content: use another network or mirror.",
            )
        if not file.is_relative_to(workspace):
            # Ivy settings may return a file of the user: copy it, do not move it.
            file = Path(shutil.copy(file, workspace / jar.file_name))
        file.replace(folder / jar.file_name)
        with report_lock:
            fetched.append(jar.file_name)
            progress(done + len(fetched), len(lock.jars))

    try:
        if missing:
            fetch(missing, workspace, java or find_java(), settings, on_fetched)
    finally:
        shutil.rmtree(workspace, ignore_errors=True)
    _write_stamp(folder, lock)


def _checked(file: Path, jar: Jar) -> bool:
    if not file.exists():
        return False
    if _sha256(file) != jar.sha256:
        raise JarError(
            f"{file} has another sha256 than the jar in the lock file",
            hint=f"Delete {file} and run the command again to fetch it.",
        )
    return True


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _file_stats(folder: Path, lock: LockFile) -> dict[str, list[int]]:
    stats = ((jar.file_name, (folder / jar.file_name).stat()) for jar in lock.jars)
    return {name: [stat.st_size, stat.st_mtime_ns] for name, stat in stats}


def _stamp_holds(folder: Path, lock: LockFile) -> bool:
    """Return True if lock file and each jar's size and time are those of the last check."""
    try:
        stamp = json.loads((folder / "stamp.json").read_text())
        return bool(stamp == {"lock": lock.sha256, "jars": _file_stats(folder, lock)})
    except (OSError, ValueError):
        return False


def _write_stamp(folder: Path, lock: LockFile) -> None:
    partial = folder / f".stamp-{os.getpid()}"
    partial.write_text(json.dumps({"lock": lock.sha256, "jars": _file_stats(folder, lock)}))
    partial.replace(folder / "stamp.json")


@contextmanager
def _exclusive(file: Path) -> Iterator[None]:
    # A link here could point to any file of the user.
    lock = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def missing_jars(cache: Path | None = None) -> Sequence[str]:
    """Return the jars of Neo4j that are not in the cache; contents are not checked.

    Args:
        cache: The cache folder; None is the user's.

    Returns:
        Maven coordinates.
    """
    lock = read_lock()
    folder = (cache or default_cache()) / f"{lock.server}-{lock.version}"
    return [jar.coordinates for jar in lock.jars if not (folder / jar.file_name).is_file()]
