"""Fetch single jars with Ivy, eight at a time, in one JVM.

Ivy's whole resolution walks every pom and its parents, one after the other: two minutes for Neo4j.
The lock file already says which jars, so each is asked for by itself, without its pom: four seconds.
Promises: works in the folder given and nowhere else (never in the user's own Ivy or Maven caches);
the first jar that can not be had stops the rest.
Refuses nothing about content: whoever calls checks the hash.
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
from headwater.local.gateway import helper_jvm, java_said, pyspark_jar
from headwater.local.java import Java

threads_max = 8
tries_max = 3
pause_seconds = 1.0
fetch_hint = (
    "Check that this machine is online. Behind a proxy, set JAVA_TOOL_OPTIONS to Java's proxy options; "
    "with a mirror of your own, let HEADWATER_IVY_SETTINGS name an Ivy settings file. Then run it again: "
    "jars that were fetched are kept."
)


@dataclass(frozen=True)
class Jar:
    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str
    bytes: int

    @property
    def coordinates(self) -> str:
        return ":".join(filter(None, [self.group, self.artifact, self.version, self.classifier]))

    @property
    def file_name(self) -> str:
        return "-".join(filter(None, [self.artifact, self.version, self.classifier])) + ".jar"


def fetch(
    jars: Iterable[Jar],
    folder: Path,
    java: Java,
    settings: Path | None,
    landed: Callable[[Jar, Path], None],
) -> None:
    """Fetch each jar below `folder` and hand it to `landed`, which runs in several threads at once."""
    waiting: queue.SimpleQueue[Jar] = queue.SimpleQueue()
    for jar in sorted(jars, key=lambda jar: -jar.bytes):
        waiting.put(jar)
    stop = threading.Event()

    def work(number: int) -> None:
        download = _downloader(gateway, folder / str(number), settings)
        with contextlib.suppress(queue.Empty):
            while not stop.is_set():
                jar = waiting.get_nowait()
                landed(jar, _insist(download, jar, stop))

    pool = ThreadPoolExecutor(threads_max)
    try:
        with helper_jvm(java, [pyspark_jar("ivy-*.jar"), pyspark_jar("py4j-*.jar")]) as gateway:
            try:
                done, _ = wait(
                    [pool.submit(work, n) for n in range(threads_max)], return_when=FIRST_EXCEPTION
                )
                for future in done:
                    future.result()
            except Py4JError as error:
                raise JarError(f"Ivy failed: {java_said(error)}", hint=fetch_hint) from None
            finally:
                stop.set()
    finally:
        # Only now: a thread that is inside a download ends when the JVM has ended.
        pool.shutdown(cancel_futures=True)


def _insist(download: Callable[[Jar], Path | str], jar: Jar, stop: threading.Event) -> Path:
    """A registry that hiccups once in two hundred requests must not fail the whole."""
    said: Path | str = ""
    for attempt in range(tries_max):
        said = download(jar)
        if isinstance(said, Path):
            return said
        if stop.is_set():
            break
        time.sleep(pause_seconds * attempt)
    raise JarError(f"{jar.coordinates} could not be fetched: {said}", hint=fetch_hint)


def _downloader(gateway: Any, cache: Path, settings: Path | None) -> Callable[[Jar], Path | str]:
    """One Ivy of its own for each thread: Ivy keeps its context by thread and locks by cache."""
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
        wanted = gateway.new_array(descriptor.Artifact, 1)
        wanted[0] = artifact
        report = resolver.download(wanted, ivy_package.core.resolve.DownloadOptions())
        report = report.getArtifactReport(artifact)
        if report.getLocalFile() is None:
            return f"{report.getDownloadStatus().toString()} {report.getDownloadDetails() or ''}".strip()
        return Path(report.getLocalFile().getPath())

    return download


def _public_resolver(java: Any, ivy: Any) -> Any:
    """Ivy's own default repository. No poms, no metadata, no checksum files: the lock has better ones."""
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
            f"HEADWATER_IVY_SETTINGS names no file: {settings}", hint="Correct it, or unset it."
        )
    try:
        ivy.configure(gateway.jvm.java.io.File(str(settings)))
        resolver = ivy.getSettings().getDefaultResolver()
    except Py4JError as error:
        raise JarError(
            f"Ivy does not accept {settings}: {java_said(error)}", hint="Correct the settings file."
        ) from None
    if resolver is None:
        raise JarError(
            f"{settings} has no default resolver.", hint="Give <settings> a defaultResolver."
        )
    return resolver
