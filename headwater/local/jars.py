"""A server's jars, exactly as its lock file (`neo4j.lock`, `kafka.lock`) names them, in the user's cache.

`ensure_jars` fetches what is missing, once; later calls compare sizes and times with a stamp (a few
milliseconds) and never touch the network again.
Promises: a jar is in the folder only when its sha256 is the pinned one; it is moved there whole, by
rename, so Ctrl-C or kill -9 at any time leaves nothing half-done; two processes at once fetch once.
Refuses: a jar whose content is not what the lock file says, whether just fetched or already there.
Layout: `<cache>/<server>-<version>/*.jar`, its `stamp.json`, and `<cache>/<server>-<version>.lock`.
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


def _silent(done: int, total: int) -> None:
    """The progress nobody watches."""


@dataclass(frozen=True)
class Lock:
    server: str
    version: str
    jars: tuple[Jar, ...]
    sha256: str


def read_lock(server: str = "neo4j") -> Lock:
    text = (importlib.resources.files("headwater.local") / f"{server}.lock").read_text()
    version, jars = "", []
    for line in text.splitlines():
        if line.startswith(f"# {server} "):
            version = line.split()[2]
        elif line and not line.startswith("#"):
            name, sha256, size = line.split()
            group, artifact, jar_version, *classifier = name.split(":")
            jars.append(Jar(group, artifact, jar_version, "".join(classifier), sha256, int(size)))
    return Lock(server, version, tuple(jars), hashlib.sha256(text.encode()).hexdigest())


def default_cache(environ: Mapping[str, str] | None = None) -> Path:
    environ = os.environ if environ is None else environ
    root = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME", "~")).expanduser() / ".cache"
    return Path(root) / "headwater"


def ensure_jars(
    cache: Path | None = None,
    progress: Progress = _silent,
    *,
    lock: Lock | None = None,
    java: Java | None = None,
    ivy_settings: Path | None = None,
) -> Path:
    """The folder of jars below `cache` (default: the user's own), complete and checked."""
    lock = lock or read_lock()
    cache = cache or default_cache()
    folder = cache / f"{lock.server}-{lock.version}"
    if _stamp_holds(folder, lock):
        return folder
    if ivy_settings is None and os.environ.get("HEADWATER_IVY_SETTINGS"):
        ivy_settings = Path(os.environ["HEADWATER_IVY_SETTINGS"])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _only_one(cache / f"{folder.name}.lock"):
            if not _stamp_holds(folder, lock):
                _fill(folder, lock, progress, java, ivy_settings)
    except OSError as error:
        raise JarError(
            f"{folder} is not usable: {error}", hint="Free space, or set HEADWATER_CACHE."
        ) from error
    return folder


def classpath(folder: Path, lock: Lock | None = None) -> str:
    """Every jar by name, so that a stray file in the folder is never loaded."""
    return ":".join(str(folder / jar.file_name) for jar in (lock or read_lock()).jars)


def _fill(
    folder: Path, lock: Lock, progress: Progress, java: Java | None, settings: Path | None
) -> None:
    missing = [jar for jar in lock.jars if not _checked(folder / jar.file_name, jar)]
    done = len(lock.jars) - len(missing)
    progress(done, len(lock.jars))
    for left_over in folder.glob(".fetch-*"):
        shutil.rmtree(left_over, ignore_errors=True)
    workspace = Path(tempfile.mkdtemp(prefix=".fetch-", dir=folder))
    fetched: list[str] = []
    one_at_a_time = threading.Lock()

    def landed(jar: Jar, file: Path) -> None:
        if _sha256(file) != jar.sha256:
            raise JarError(
                f"What was fetched as {jar.coordinates} is not that jar: its sha256 is not the pinned one.",
                hint="A mirror or proxy on the way changes content: use another network or mirror.",
            )
        if not file.is_relative_to(workspace):
            # A user's own settings may answer with a file of theirs: that one is copied, never moved.
            file = Path(shutil.copy(file, workspace / jar.file_name))
        file.replace(folder / jar.file_name)
        with one_at_a_time:
            fetched.append(jar.file_name)
            progress(done + len(fetched), len(lock.jars))

    try:
        if missing:
            fetch(missing, workspace, java or find_java(), settings, landed)
    finally:
        shutil.rmtree(workspace, ignore_errors=True)
    _write_stamp(folder, lock)


def _checked(file: Path, jar: Jar) -> bool:
    if not file.exists():
        return False
    if _sha256(file) != jar.sha256:
        raise JarError(
            f"{file} is not the jar that the lock file names: its sha256 differs.",
            hint=f"Delete {file} and run it again: it is then fetched anew.",
        )
    return True


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _seen(folder: Path, lock: Lock) -> dict[str, list[int]]:
    stats = ((jar.file_name, (folder / jar.file_name).stat()) for jar in lock.jars)
    return {name: [stat.st_size, stat.st_mtime_ns] for name, stat in stats}


def _stamp_holds(folder: Path, lock: Lock) -> bool:
    """Size and time of every jar are as when it was last hashed, and the lock file is the same."""
    try:
        stamp = json.loads((folder / "stamp.json").read_text())
        return bool(stamp == {"lock": lock.sha256, "jars": _seen(folder, lock)})
    except (OSError, ValueError):
        return False


def _write_stamp(folder: Path, lock: Lock) -> None:
    fresh = folder / f".stamp-{os.getpid()}"
    fresh.write_text(json.dumps({"lock": lock.sha256, "jars": _seen(folder, lock)}))
    fresh.replace(folder / "stamp.json")


@contextmanager
def _only_one(file: Path) -> Iterator[None]:
    with file.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def missing_jars(cache: Path | None = None) -> Sequence[str]:
    """What `headwater doctor` shows of Neo4j: coordinates that are not in the cache (content is not hashed here)."""
    lock = read_lock()
    folder = (cache or default_cache()) / f"{lock.server}-{lock.version}"
    return [jar.coordinates for jar in lock.jars if not (folder / jar.file_name).is_file()]
