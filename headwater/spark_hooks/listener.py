"""The Spark settings that send lineage to Headwater, as text. Reading them needs no Spark.

The official OpenLineage listener does the work. This module chooses its version, its address and
its limits. `headwater-spark.jar` beside this file adds a second listener, for the failures that the
first one reports as successes. A dead, hung or slow Headwater never fails a job, and delays it by
seconds at most:

- A request ends after one second (`transport.timeoutInMillis`); the bytes sent by then still
  arrive.
- The listener runs beside the job, and only `spark.stop()` waits for it: from Spark 4 on for four
  seconds in all (`listenerbus.exitTimeout`). Spark 3 has no such limit, so a circuit breaker ends
  single events.
- While nothing accepts connections at Headwater's address, the listener builds no events.

Values that a job has set stay. Lists (packages, listeners) are extended, never replaced.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit

from headwater.addresses import is_plain, shown
from headwater.credentials import parse_token
from headwater.errors import SettingsError

LISTENER_VERSION = "1.53.0"
LISTENER_CLASS = "io.openlineage.spark.agent.OpenLineageSparkListener"
# Before the other one, so that a failed query is reported before its end.
FAILURE_LISTENER_CLASS = "headwater.spark.FailureListener"
FAILURE_JAR = "headwater-spark.jar"
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
REDACTION = "spark.redaction.regex"

REQUEST_TIMEOUT_MILLIS = 1_000
STOP_TIMEOUT_SECONDS = 4
# Spark's own pattern does not match an API key, which would then appear in the UI and in event
# logs.
_REDACTED = "(?i)secret|password|token|access[.]?key|credential|api[.]?key"
# The properties that the listener sends: its own, and the one that shows whether an overwrite keeps
# other partitions.
_CAPTURED_PROPERTIES = (
    "spark.master",
    "spark.app.name",
    "spark.sql.sources.partitionOverwriteMode",
)
# Large facets that no lineage query needs: query plans, and diagnostics of the listener itself.
_DISABLED_FACETS = ("spark.logicalPlan", "spark_unknown", "debug")
_LISTS = (PACKAGES, JARS, LISTENERS)
_DEFAULT_SPARK, _DEFAULT_SCALA = "4.1", "2.13"
_CORE_JAR = re.compile(r"spark-core_(2\.\d+)-(\d+\.\d+[^/]*)\.jar")


def running_spark() -> tuple[str, str]:
    """Return the versions of the Spark and Scala installed here; current ones if there is no
    Spark.
    """
    package = importlib.util.find_spec("pyspark")
    homes = [
        os.environ.get("SPARK_HOME"),
        os.path.dirname(package.origin) if package and package.origin else None,
    ]
    for home in filter(None, homes):
        for jar in sorted(Path(home, "jars").glob("spark-core_*.jar")):
            match = _CORE_JAR.fullmatch(jar.name)
            if match:
                return match[2], match[1]
    return _DEFAULT_SPARK, _DEFAULT_SCALA


def coordinates(scala: str) -> str:
    """Return the Maven coordinates of the listener: one jar with its dependencies, about 43 MB."""
    return f"io.openlineage:openlineage-spark_{scala}:{LISTENER_VERSION}"


def jar_path() -> Path:
    """Return the path of the jar with the failure listener in this installation."""
    return Path(str(resources.files("headwater.spark_hooks").joinpath(FAILURE_JAR)))


def on_class_path(options: Mapping[str, str]) -> dict[str, str]:
    """Return `options` for the start of a JVM with the listeners on the driver's class path, if
    that is safe.

    Spark then does not ask Ivy for a jar that it has, does not copy 43 MB, and does not search all
    of its own jars for each class of the listener: 1.5 seconds of CPU less. It is safe only without
    other packages and jars (Delta, Iceberg), whose classes the listener could not load from there,
    and only for Spark 4: the listener's jar has a log4j.properties that an older Spark might load.
    """
    package = options.get(PACKAGES, "")
    jars = _items(options.get(JARS, ""))
    if re.fullmatch(r"io\.openlineage:openlineage-spark_[\d.]+:[\d.]+", package):
        jars.insert(0, str(fetched(package, options.get(IVY_FOLDER))))
    elif package:
        return dict(options)
    names = [Path(jar).name for jar in jars]
    are_ours = len(names) == 2 and "openlineage-spark" in names[0] and names[1] == FAILURE_JAR
    if not are_ours or not all(Path(jar).is_file() for jar in jars):
        return dict(options)
    others = {key: value for key, value in options.items() if key not in {PACKAGES, JARS}}
    # Last, so that the classes found first stay the same.
    present = options.get(CLASS_PATH)
    return others | {CLASS_PATH: os.pathsep.join([*([present] if present else []), *jars])}


def fetched(package: str, ivy: str | None) -> Path:
    """Return the path at which the Ivy of Spark 4 stores a package; the file exists only when
    complete.
    """
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
    """Return the origin of an address and the path of its events endpoint.

    Raises SettingsError unless it is an http or https address of host, port and path only.
    """
    if any(mark in url for mark in "@?#"):
        raise SettingsError(
            "url may have only a host, a port and a path", hint="Pass the key as api_key."
        )
    parts = urlsplit(url) if is_plain(url) else None
    if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname:
        raise SettingsError(
            f"url {shown(url)!r} is no http or https address",
            hint="Write for example http://127.0.0.1:8000.",
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


def _scala_of(spark_version: str) -> str:
    """Return the Scala of a Spark that is not installed here: every Spark 4 is built for 2.13."""
    return "2.13" if spark_version[0] >= "4" else "2.12"


def spark_conf(
    url: str,
    api_key: str | None = None,
    namespace: str | None = None,
    *,
    jar: str | None = None,
    headwater_jar: str | None = None,
    spark_version: str | None = None,
    scala: str | None = None,
) -> dict[str, str]:
    """Return every Spark setting that sends lineage to Headwater.

    Args:
        url: Address of Headwater.
        api_key: API key, if it needs one.
        namespace: Namespace of the jobs; `default` if None.
        jar: Path of the OpenLineage listener, for a cluster that cannot fetch from Maven.
        headwater_jar: Path of headwater-spark.jar where the driver runs; by default that of this
            installation.
        spark_version: Version of Spark; by default that of the Spark installed here.
        scala: Version of its Scala, for example `2.13`.

    Returns:
        The values of the settings by their keys.

    Raises:
        SettingsError: `url` is no http or https address, or `api_key` is malformed.
    """
    found_spark, found_scala = running_spark()
    version = spark_version or found_spark
    if scala is None:
        scala = found_scala if spark_version is None else _scala_of(version)
    origin, path = endpoint(url)
    conf = {} if jar else {PACKAGES: coordinates(scala)}
    conf |= {
        JARS: ",".join([*([jar] if jar else []), headwater_jar or str(jar_path())]),
        LISTENERS: f"{FAILURE_LISTENER_CLASS},{LISTENER_CLASS}",
        "spark.openlineage.transport.type": "http",
        URL: origin,
        URL_PATH: path,
        **_limits(version),
        "spark.openlineage.capturedProperties": ",".join(_CAPTURED_PROPERTIES),
        **{f"spark.openlineage.facets.{facet}.disabled": "true" for facet in _DISABLED_FACETS},
    }
    if namespace:
        conf[NAMESPACE] = namespace
    if key := parse_token(api_key or ""):
        conf |= {
            "spark.openlineage.transport.auth.type": "api_key",
            API_KEY: key,
            REDACTION: _REDACTED,
        }
    return conf


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _identity(key: str, item: str) -> str:
    """Return what may be loaded once: a package of any version, a jar of any folder, a class."""
    if key == PACKAGES:
        return re.sub(r"_2\.\d+:.*", "", item)
    return item.rpartition("/")[2] if key == JARS else item


def _joined(key: str, present: str, added: str) -> str:
    items = _items(present)
    loaded = {_identity(key, item) for item in items}
    return ",".join(items + [item for item in _items(added) if _identity(key, item) not in loaded])


def merged(present: Mapping[str, str], added: Mapping[str, str]) -> dict[str, str]:
    """Return the settings to add to those of a job: ours for the address, the job's for the
    limits.
    """
    ours = {URL, URL_PATH, NAMESPACE, API_KEY}
    result = {}
    for key, value in added.items():
        if key in _LISTS and present.get(key):
            result[key] = _joined(key, present[key], value)
        elif key not in present or key in ours or key.startswith("spark.openlineage.transport."):
            result[key] = value
    return result


def defaults(home: str | None = None) -> dict[str, str]:
    """Return the entries of spark-defaults.conf: a list set on a builder would hide the list
    there.
    """
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
    """Return the settings as flags of spark-submit, one a line, quoted for a shell.

    Args:
        conf: Settings as `spark_conf` returns them.

    Returns:
        The flags, with a backslash at the end of each line but the last.
    """
    names = {PACKAGES: "--packages", JARS: "--jars"}
    flags = [
        f"{names[key]} {shlex.quote(value)}"
        if key in names
        else f"--conf {shlex.quote(f'{key}={value}')}"
        for key, value in conf.items()
    ]
    return " \\\n".join(flags) + "\n"


def as_defaults_conf(conf: Mapping[str, str]) -> str:
    """Return the settings as lines of spark-defaults.conf.

    Args:
        conf: Settings as `spark_conf` returns them.

    Returns:
        One line a setting.
    """
    return "".join(f"{key} {value}\n" for key, value in conf.items())
