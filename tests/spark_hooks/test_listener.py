"""The settings of the listener: their values, how they are added to a job's own, how they print."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from headwater.errors import SettingsError
from headwater.spark_hooks import listener
from headwater.spark_hooks.listener import (
    as_defaults_conf,
    as_submit_flags,
    merged,
    on_class_path,
    spark_conf,
)

LISTENERS = f"{listener.FAILURE_LISTENER_CLASS},{listener.LISTENER_CLASS}"
URL = "http://127.0.0.1:8000"


def test_the_listener_sends_to_the_path_every_openlineage_client_uses() -> None:
    conf = spark_conf(URL, namespace="sales")
    assert conf["spark.extraListeners"] == LISTENERS
    assert conf["spark.openlineage.transport.url"] == URL
    assert conf["spark.openlineage.transport.endpoint"] == "/api/v1/lineage"
    assert conf["spark.openlineage.namespace"] == "sales"
    assert "spark.openlineage.transport.auth.apiKey" not in conf


@pytest.mark.parametrize(
    ("url", "path"),
    [
        (URL + "/", "/api/v1/lineage"),
        (URL + "/team/headwater", "/team/headwater/api/v1/lineage"),
        (URL + "/api/v1/lineage", "/api/v1/lineage"),
    ],
)
def test_a_path_in_the_url_goes_before_the_endpoint(url: str, path: str) -> None:
    conf = spark_conf(url)
    assert (conf[listener.URL], conf[listener.URL_PATH]) == (URL, path)


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8000", "ftp://host", "http://", "ftp://me:secret@host", URL + "?key=1"]
)
def test_a_malformed_url_is_refused(url: str) -> None:
    with pytest.raises(SettingsError) as caught:
        spark_conf(url)
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("spark", "scala"), [("3.5.6", "2.12"), ("4.0.1", "2.13"), ("4.1.4", "2.13")]
)
def test_the_listener_is_built_for_the_scala_of_that_spark(spark: str, scala: str) -> None:
    assert f"openlineage-spark_{scala}:" in spark_conf(URL, spark_version=spark)[listener.PACKAGES]


def test_the_scala_of_the_spark_found_here_is_read_from_its_jars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.13-3.5.6.jar").touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert listener.running_spark() == ("3.5.6", "2.13")
    assert "openlineage-spark_2.13:" in spark_conf(URL)[listener.PACKAGES]


def test_spark_3_cuts_single_events_off_because_it_cannot_bound_stop() -> None:
    assert (
        spark_conf(URL, spark_version="3.5.6")["spark.openlineage.circuitBreaker.timeoutInSeconds"]
        == "1"
    )
    assert "spark.scheduler.listenerbus.exitTimeout" not in spark_conf(URL, spark_version="3.5.6")
    assert spark_conf(URL, spark_version="4.1.4")["spark.scheduler.listenerbus.exitTimeout"] == "4s"


def test_an_api_key_is_hidden_wherever_spark_shows_its_settings() -> None:
    conf = spark_conf(URL, api_key="k")
    assert conf["spark.openlineage.transport.auth.type"] == "api_key"
    assert "api[.]?key" in conf["spark.redaction.regex"]


def test_an_api_key_that_no_header_can_hold_is_refused() -> None:
    assert spark_conf("http://h", " k\n")[listener.API_KEY] == "k"
    with pytest.raises(SettingsError, match="the API key is malformed"):
        spark_conf("http://h", "k\nk")


def test_packages_and_listeners_are_added_to_and_never_replaced() -> None:
    present = {"spark.jars.packages": "org.x:y:1", "spark.extraListeners": "com.x.Mine"}
    result = merged(present, spark_conf(URL))
    assert result["spark.jars.packages"] == f"org.x:y:1,{listener.coordinates('2.13')}"
    assert result["spark.extraListeners"] == f"com.x.Mine,{LISTENERS}"


def test_merging_twice_changes_nothing_more() -> None:
    once = merged({}, spark_conf(URL))
    assert {**once, **merged(once, spark_conf(URL))} == once


def test_another_version_of_the_listener_that_the_job_pinned_stays_alone() -> None:
    pinned = {"spark.jars.packages": "io.openlineage:openlineage-spark_2.13:1.40.0"}
    assert merged(pinned, spark_conf(URL))["spark.jars.packages"] == pinned["spark.jars.packages"]


def test_limits_of_the_job_stay_and_the_address_is_replaced() -> None:
    present = {"spark.scheduler.listenerbus.exitTimeout": "60s", listener.URL: "http://elsewhere:1"}
    result = merged(present, spark_conf(URL))
    assert "spark.scheduler.listenerbus.exitTimeout" not in result
    assert result[listener.URL] == URL


def test_a_jar_of_the_job_replaces_the_download() -> None:
    conf = spark_conf(
        URL, jar="/opt/openlineage-spark.jar", headwater_jar="/opt/headwater-spark.jar"
    )
    assert conf["spark.jars"] == "/opt/openlineage-spark.jar,/opt/headwater-spark.jar"
    assert "spark.jars.packages" not in conf


def test_the_failure_listener_comes_from_this_installation() -> None:
    conf = spark_conf(URL)
    assert conf["spark.jars"] == str(listener.jar_path())
    names = zipfile.ZipFile(listener.jar_path()).namelist()
    assert listener.FAILURE_LISTENER_CLASS.replace(".", "/") + ".class" in names
    assert "META-INF/LICENSE" in names


def test_a_jar_of_the_job_is_loaded_once_whatever_its_folder() -> None:
    present = {"spark.jars": "/opt/headwater-spark.jar,/mine.jar"}
    assert merged(present, spark_conf(URL))["spark.jars"] == present["spark.jars"]


def cached_listener(ivy: Path) -> Path:
    """Return a listener's jar at its place in the cache of Ivy."""
    folder = ivy / "cache" / "io.openlineage" / "openlineage-spark_2.13" / "jars"
    folder.mkdir(parents=True)
    file = folder / f"openlineage-spark_2.13-{listener.LISTENER_VERSION}.jar"
    file.touch()
    return file


def test_a_cached_listener_without_other_jars_goes_on_the_class_path(
    tmp_path: Path,
) -> None:
    ours = str(listener.jar_path())
    alone = {
        "spark.jars.packages": listener.coordinates("2.13"),
        "spark.jars": ours,
        "spark.jars.ivy": str(tmp_path),
    }
    assert on_class_path(alone) == alone
    file = cached_listener(tmp_path)
    job_settings = {"spark.jars.ivy": str(tmp_path)}
    both = f"{file}{os.pathsep}{ours}"
    assert on_class_path(alone) == {**job_settings, "spark.driver.extraClassPath": both}
    mine = {"spark.driver.extraClassPath": "/mine.jar"}
    assert on_class_path({**alone, **mine}) == {
        **job_settings,
        "spark.driver.extraClassPath": f"/mine.jar{os.pathsep}{both}",
    }


@pytest.mark.parametrize(
    "beside", [{"spark.jars": "/delta.jar"}, {"spark.jars.packages": "org.x:y:1"}]
)
def test_beside_other_jars_the_listener_shares_their_class_loader(
    beside: dict[str, str], tmp_path: Path
) -> None:
    cached_listener(tmp_path)
    options = merged(
        {**beside, "spark.jars.ivy": str(tmp_path)}, spark_conf(URL, spark_version="4.1.4")
    )
    options = {**beside, "spark.jars.ivy": str(tmp_path), **options}
    assert on_class_path(options) == options


def test_a_local_jar_of_the_job_goes_on_the_class_path(tmp_path: Path) -> None:
    jar, ours = tmp_path / "openlineage-spark.jar", str(listener.jar_path())
    away = {"spark.jars": f"s3a://lake/{jar.name},{ours}"}
    assert on_class_path(away) == away
    options = {"spark.jars": f"{jar},{ours}"}
    assert on_class_path(options) == options
    jar.touch()
    assert on_class_path(options) == {"spark.driver.extraClassPath": f"{jar}{os.pathsep}{ours}"}


def test_lists_in_spark_defaults_are_extended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "# ours\nspark.jars.packages   org.x:y:1\nspark.master=local\n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert listener.defaults() == {"spark.jars.packages": "org.x:y:1", "spark.master": "local"}


def test_submit_flags_are_one_shell_command() -> None:
    conf = spark_conf(URL, api_key="a-key'with'quotes", namespace="a name")
    words = shlex.split(as_submit_flags(conf).replace("\\\n", ""))
    assert words[:2] == ["--packages", conf.pop("spark.jars.packages")]
    assert words[2:4] == ["--jars", conf.pop("spark.jars")]
    assert dict(word.split("=", 1) for word in words[5::2]) == conf


def test_defaults_conf_reads_back_as_the_same_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = spark_conf(URL, api_key="k", namespace="sales")
    (tmp_path / "spark-defaults.conf").write_text(as_defaults_conf(conf))
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert listener.defaults() == conf


def test_a_cluster_needs_neither_the_servers_packages_nor_pyspark_to_import_this() -> None:
    program = (
        "import sys, headwater.spark_hooks; print(*sorted({name.split('.')[0] for "
        "name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    heavy = {
        "apsw",
        "neo4j",
        "pyspark",
        "starlette",
        "strawberry",
        "typer",
        "rich",
        "uvicorn",
        "prometheus_client",
    }
    assert not heavy & set(done.stdout.split())
