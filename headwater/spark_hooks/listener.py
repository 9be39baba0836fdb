"""The settings that make Spark send its lineage to Headwater, as plain text: no Spark is needed to read them.

The official OpenLineage listener does the work; this module says which one, where it sends, and what it may
cost. It promises that a dead, hung or slow Headwater never fails a job and holds it up for seconds at most:

- a request is given up after one second (`transport.timeoutInMillis`; what was sent by then still arrives);
- the listener works beside the job, and only `spark.stop()` waits for it: from Spark 4 on for four seconds in
  all (`listenerbus.exitTimeout`). Spark 3 has no such limit, so there a circuit breaker cuts single events off;
- while no connection is taken at Headwater's address, no event is put together (`failures`).

Values that a job has set itself are kept; lists (packages, listeners) are added to, never replaced.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from headwater.errors import SettingsError

LISTENER_VERSION = "1.53.0"
LISTENER_CLASS = "io.openlineage.spark.agent.OpenLineageSparkListener"
ENDPOINT = "/api/v1/lineage"

PACKAGES = "spark.jars.packages"
JARS = "spark.jars"
CLASS_PATH = "spark.driver.extraClassPath"
IVY_FOLDER = "spark.jars.ivy"
LISTENERS = "spark.extraListeners"
URL = "spark.openlineage.transport.url"
URL_PATH = "spark.openlineage.transport.endpoint"
API_KEY = "spark.openlineage.transport.auth.apiKey"
NAMESPACE = "spark.openlineage.namespace"
APP_NAME = "spark.openlineage.appName"
REDACTION = "spark.redaction.regex"

REQUEST_TIMEOUT_MILLIS = 1_000
STOP_TIMEOUT_SECONDS = 4
# Spark's own pattern does not cover an API key: without this it would show in the UI and in event logs.
_REDACTED = "(?i)secret|password|token|access[.]?key|credential|api[.]?key"
# Bulk that no question about lineage needs: whole query plans, and the listener's diagnostics of itself.
_DISABLED_FACETS = ("spark.logicalPlan", "spark_unknown", "debug")
_LISTS = (PACKAGES, JARS, LISTENERS)
_DEFAULT_SPARK, _DEFAULT_SCALA = "4.1", "2.13"
_CORE_JAR = re.compile(r"spark-core_(2\.\d+)-(\d+\.\d+[^/]*)\.jar")


def running_spark() -> tuple[str, str]:
    """Version of the Spark a session would start here and of its Scala; a current Spark when there is none."""
    package = importlib.util.find_spec("pyspark")
    homes = [
        os.environ.get("SPARK_HOME"),
        os.path.dirname(package.origin) if package and package.origin else None,
    ]
    for home in filter(None, homes):
        for jar in sorted(Path(home, "jars").glob("spark-core_*.jar")):
            found = _CORE_JAR.fullmatch(jar.name)
            if found:
                return found[2], found[1]
    return _DEFAULT_SPARK, _DEFAULT_SCALA


def coordinates(scala: str) -> str:
    """Maven coordinates of the listener: one jar that carries all it needs, about 43 MB."""
    return f"io.openlineage:openlineage-spark_{scala}:{LISTENER_VERSION}"


def on_class_path(options: Mapping[str, str]) -> dict[str, str]:
    """`options` for the start of a JVM, with the listener on the driver's class path where that changes nothing else.

    Spark then neither asks Ivy for a jar that it fetched before, nor copies 43 MB, nor looks for each of the
    listener's classes in all of its own jars first: a second and a half of CPU less. Only for a listener that is
    alone: it does not see classes of other packages and jars (Delta, Iceberg) from there, so with them it stays
    where they are. Only for Spark 4: the listener's jar holds a log4j.properties, which an older one might obey.
    """
    package, jar = options.get(PACKAGES, ""), options.get(JARS, "")
    if (
        package
        and not jar
        and re.fullmatch(r"io\.openlineage:openlineage-spark_[\d.]+:[\d.]+", package)
    ):
        found = _fetched(package, options.get(IVY_FOLDER))
    elif jar and not package and "openlineage-spark" in jar and "," not in jar:
        found = Path(jar)
    else:
        return dict(options)
    if not found.is_file():
        return dict(options)
    others = {key: value for key, value in options.items() if key not in {PACKAGES, JARS}}
    # Last: what is found first stays what it was.
    present = options.get(CLASS_PATH)
    return others | {
        CLASS_PATH: os.pathsep.join([present, str(found)] if present else [str(found)])
    }


def _fetched(package: str, ivy: str | None) -> Path:
    """Where the Ivy of Spark 4 keeps the file of a package; it has that name only once it was fetched whole."""
    group, artifact, version = package.split(":")
    return Path(
        ivy or Path.home() / ".ivy2.5.2",
        "cache",
        group,
        artifact,
        "jars",
        f"{artifact}-{version}.jar",
    )


def endpoint(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise SettingsError(
            f"not an http or https URL: {url!r}", hint="for example http://127.0.0.1:8080"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise SettingsError(
            "Headwater's URL may hold a host, a port and a path only",
            hint="hand the key over as api_key",
        )
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{parts.netloc}", path if path.endswith(ENDPOINT) else path + ENDPOINT


def _limits(spark_version: str) -> dict[str, str]:
    limits = {"spark.openlineage.transport.timeoutInMillis": str(REQUEST_TIMEOUT_MILLIS)}
    if int(spark_version.split(".")[0]) >= 4:
        return {**limits, "spark.scheduler.listenerbus.exitTimeout": f"{STOP_TIMEOUT_SECONDS}s"}
    breaker = {"type": "timeout", "timeoutInSeconds": "1", "circuitCheckIntervalInMillis": "100"}
    return limits | {
        f"spark.openlineage.circuitBreaker.{key}": value for key, value in breaker.items()
    }


def spark_conf(
    url: str,
    api_key: str | None = None,
    namespace: str | None = None,
    *,
    jar: str | None = None,
    spark_version: str | None = None,
    scala: str | None = None,
) -> dict[str, str]:
    """Every Spark setting that sends lineage to the Headwater at `url`.

    `namespace` is that of the jobs ("default" when left out). `jar` is a path to the listener for clusters
    that may not fetch from Maven. The Spark found here is assumed unless its version and Scala are given.
    """
    found_spark, found_scala = running_spark()
    version = spark_version or found_spark
    if scala is None:
        # A Spark named without its Scala is not the one installed here: every Spark 4 is built for 2.13.
        scala = found_scala if spark_version is None else ("2.13" if version[0] >= "4" else "2.12")
    origin, path = endpoint(url)
    conf = {JARS: jar} if jar else {PACKAGES: coordinates(scala)}
    conf |= {
        LISTENERS: LISTENER_CLASS,
        "spark.openlineage.transport.type": "http",
        URL: origin,
        URL_PATH: path,
        **_limits(version),
        **{f"spark.openlineage.facets.{facet}.disabled": "true" for facet in _DISABLED_FACETS},
    }
    if namespace:
        conf[NAMESPACE] = namespace
    if api_key:
        conf |= {
            "spark.openlineage.transport.auth.type": "api_key",
            API_KEY: api_key,
            REDACTION: _REDACTED,
        }
    return conf


def _joined(key: str, present: str, added: str) -> str:
    items = [item.strip() for item in present.split(",") if item.strip()]
    # Another version of the listener that the job asked for stays: two of them can not be loaded at once.
    artifact = re.sub(r"_2\.\d+:.*", "", added) if key == PACKAGES else added
    if any(item == added or item.startswith(f"{artifact}_2.") for item in items):
        return ",".join(items)
    return ",".join([*items, added])


def merged(present: Mapping[str, str], added: Mapping[str, str]) -> dict[str, str]:
    """`added` on top of what a job has set. Where it sends is ours to say; limits the job chose stay."""
    ours = {URL, URL_PATH, NAMESPACE, API_KEY}
    result = {}
    for key, value in added.items():
        if key in _LISTS and present.get(key):
            result[key] = _joined(key, present[key], value)
        elif key not in present or key in ours or key.startswith("spark.openlineage.transport."):
            result[key] = value
    return result


def defaults(home: str | None = None) -> dict[str, str]:
    """What spark-defaults.conf says here: a list set on a builder would otherwise hide the one in that file."""
    folder = os.environ.get("SPARK_CONF_DIR") or os.path.join(
        home or os.environ.get("SPARK_HOME", ""), "conf"
    )
    try:
        text = Path(folder, "spark-defaults.conf").read_text(encoding="utf-8")
    except OSError:
        return {}
    return dict(_entries(text))


def _entries(text: str) -> Iterator[tuple[str, str]]:
    for line in map(str.strip, text.splitlines()):
        if line and not line.startswith("#"):
            key, *value = re.split(r"[\s=:]+", line, maxsplit=1)
            yield key, value[0] if value else ""


def as_submit_flags(conf: Mapping[str, str]) -> str:
    """The settings as flags of spark-submit, one a line, ready to paste into a shell."""
    names = {PACKAGES: "--packages", JARS: "--jars"}
    flags = [
        f"{names[key]} {shlex.quote(value)}"
        if key in names
        else f"--conf {shlex.quote(f'{key}={value}')}"
        for key, value in conf.items()
    ]
    return " \\\n".join(flags) + "\n"


def as_defaults_conf(conf: Mapping[str, str]) -> str:
    """The settings as lines of spark-defaults.conf."""
    return "".join(f"{key} {value}\n" for key, value in conf.items())
