"""Fetch single jars with Ivy, eight at a time, in one JVM.

Ivy's own resolution reads every pom and its parents, one after the other: two minutes for Neo4j.
The lock file already names all jars, so each is fetched by itself, without its pom: four seconds.
Only the given folder is written, never the user's Ivy or Maven caches. The first jar that cannot be
fetched stops the others. The caller checks the hashes.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from headwater.errors import JarError
from headwater.local.gateway import helper_jvm, java_error_text, pyspark_jar
from headwater.local.java import Java

THREADS_MAX = 8
TRIES_MAX = 3
PAUSE_SECONDS = 1.0
FETCH_HINT = (
    "Check that this machine is online. Behind a proxy, set JAVA_TOOL_OPTIONS to Java's proxy "
    "options; for your own mirror, set HEADWATER_IVY_SETTINGS to an Ivy settings file. Then run "
    "the command again; fetched jars are kept."
)


@dataclass(frozen=True)
class Jar:
    """A pinned jar: its Maven coordinates, hash and size in bytes."""

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str
    bytes: int

    @property
    def coordinates(self) -> str:
        """Return `group:artifact:version[:classifier]`."""
        return ":".join(filter(None, [self.group, self.artifact, self.version, self.classifier]))

    @property
    def file_name(self) -> str:
        """Return the name of the file in the cache."""
        return "-".join(filter(None, [self.artifact, self.version, self.classifier])) + ".jar"


def fetch(
    jars: Iterable[Jar],
    folder: Path,
    java: Java,
    settings: Path | None,
    on_fetched: Callable[[Jar, Path], None],
) -> None:
    """Fetch jars, several at a time.

    Args:
        jars: The jars to fetch.
        folder: The folder for Ivy's files.
        java: The Java to run.
        settings: An Ivy settings file; None is the public repository.
        on_fetched: Called with each jar and its file, in several threads at once.

    Raises:
        JarError: A jar cannot be fetched.
    """
    waiting: queue.SimpleQueue[Jar] = queue.SimpleQueue()
    for jar in sorted(jars, key=lambda jar: -jar.bytes):
        waiting.put(jar)
    stop = threading.Event()

    def work(number: int) -> None:
        download = _downloader(gateway, folder / str(number), settings)
        with contextlib.suppress(queue.Empty):
            while not stop.is_set():
                jar = waiting.get_nowait()
                on_fetched(jar, _download_with_retries(download, jar, stop))

    pool = ThreadPoolExecutor(THREADS_MAX)
    try:
        with helper_jvm(java, [pyspark_jar("ivy-*.jar"), pyspark_jar("py4j-*.jar")]) as gateway:
            try:
                done, _ = wait(
                    [pool.submit(work, n) for n in range(THREADS_MAX)], return_when=FIRST_EXCEPTION
                )
                for future in done:
                    future.result()
            except Py4JError as error:
                raise JarError(f"Ivy failed: {java_error_text(error)}", hint=FETCH_HINT) from None
            finally:
                stop.set()
    finally:
        # A thread inside a download ends only when the JVM has ended.
        pool.shutdown(cancel_futures=True)


def _download_with_retries(
    download: Callable[[Jar], Path | str], jar: Jar, stop: threading.Event
) -> Path:
    """Download a jar, up to three times: registries fail about once in two hundred requests."""
    result: Path | str = ""
    for attempt in range(TRIES_MAX):
        result = download(jar)
        if isinstance(result, Path):
            return result
        if stop.is_set():
            break
        time.sleep(PAUSE_SECONDS * attempt)
    raise JarError(f"{jar.coordinates} cannot be fetched: {result}", hint=FETCH_HINT)


def _downloader(gateway: Any, cache: Path, settings: Path | None) -> Callable[[Jar], Path | str]:
    """Return a download function with its own Ivy, which is bound to its thread and cache."""
    java = gateway.jvm
    ivy_package = java.org.apache.ivy
    ivy_package.util.Message.setDefaultLogger(ivy_package.util.DefaultMessageLogger(0))
    ivy = ivy_package.Ivy.newInstance()
    resolver = _user_resolver(gateway, ivy, settings) if settings else _public_resolver(java, ivy)
    ivy.getSettings().setDefaultCache(java.java.io.File(str(cache)))
    ivy.pushContext()

    def download(jar: Jar) -> Path | str:
        attributes = java.java.util.HashMap()
        if jar.classifier:
            attributes.put("classifier", jar.classifier)
        revision = ivy_package.core.module.id.ModuleRevisionId.newInstance(
            jar.group, jar.artifact, jar.version
        )
        descriptor = ivy_package.core.module.descriptor
        artifact = descriptor.DefaultArtifact(
            revision, None, jar.artifact, "jar", "jar", attributes
        )
        artifacts = gateway.new_array(descriptor.Artifact, 1)
        artifacts[0] = artifact
        report = resolver.download(artifacts, ivy_package.core.resolve.DownloadOptions())
        report = report.getArtifactReport(artifact)
        if report.getLocalFile() is None:
            status = report.getDownloadStatus().toString()
            return f"{status} {report.getDownloadDetails() or ''}".strip()
        return Path(report.getLocalFile().getPath())

    return download


def _public_resolver(java: Any, ivy: Any) -> Any:
    """Return Ivy's default repository, without poms, metadata and checksums, which the lock has."""
    resolver = java.org.apache.ivy.plugins.resolver.IBiblioResolver()
    resolver.setName("public")
    resolver.setM2compatible(True)
    resolver.setUsepoms(False)
    resolver.setUseMavenMetadata(False)
    resolver.setChecksums("")
    resolver.setSettings(ivy.getSettings())
    return resolver


def _user_resolver(gateway: Any, ivy: Any, settings: Path) -> Any:
    if not settings.is_file():
        raise JarError(
            f"HEADWATER_IVY_SETTINGS: {settings} is not a file",
            hint="Correct the path, or unset it.",
        )
    try:
        ivy.configure(gateway.jvm.java.io.File(str(settings)))
        resolver = ivy.getSettings().getDefaultResolver()
    except Py4JError as error:
        raise JarError(
            f"Ivy does not accept {settings}: {java_error_text(error)}",
            hint="Correct the settings file.",
        ) from None
    if resolver is None:
        raise JarError(
            f"{settings} has no default resolver", hint="Give <settings> a defaultResolver."
        )
    return resolver
