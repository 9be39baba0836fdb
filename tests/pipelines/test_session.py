"""The Spark session of the pipelines: settings of an active session.

Other tests start real ones.
"""

from __future__ import annotations

from headwater.pipelines import session


def test_only_sql_settings_are_changed_in_an_active_session() -> None:
    settings = {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"}
    assert session._of_sql(settings) == {"spark.sql.shuffle.partitions": "2"}


def test_a_local_spark_listens_on_loopback_in_utc() -> None:
    assert session.LOCAL["spark.driver.bindAddress"] == "127.0.0.1"
    assert session.ALWAYS == {"spark.sql.session.timeZone": "UTC"}
