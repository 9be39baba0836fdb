"""The extra label of a dataset by its type: Table, Topic, Model, Feature, View or File.

The reported type decides. A dataset without one gets the label of the system in its namespace:
events of Spark and Kafka name no type. A path with a table format, such as Iceberg, is a table.
Migration 0032 has the same rules in Cypher, for graphs from before them.
"""

from __future__ import annotations

TABLE, TOPIC, MODEL = "Table", "Topic", "Model"
FEATURE, VIEW, FILE = "Feature", "View", "File"

_BY_TYPE = {
    "DBT_MODEL": TABLE,
    "DBT_SEED": TABLE,
    "DBT_SNAPSHOT": TABLE,
    "EXTERNAL_TABLE": TABLE,
    "HIVE_TABLE": TABLE,
    "RDBMS_TABLE": TABLE,
    "TABLE": TABLE,
    "TEMPORARY_TABLE": TABLE,
    "KAFKA_TOPIC": TOPIC,
    "QUEUE": TOPIC,
    "STREAM": TOPIC,
    "TOPIC": TOPIC,
    "ML_MODEL": MODEL,
    "MODEL": MODEL,
    "FEATURE": FEATURE,
    "FEATURES": FEATURE,
    "FEATURE_GROUP": FEATURE,
    "FEATURE_SET": FEATURE,
    "FEATURE_TABLE": FEATURE,
    "FEATURE_VIEW": FEATURE,
    "MATERIALIZED_VIEW": VIEW,
    "VIEW": VIEW,
    "DIRECTORY": FILE,
    "FILE": FILE,
    "PATH": FILE,
}
_TOPIC_SCHEMES = frozenset({"kafka", "kinesis", "mqtt", "pubsub", "pulsar"})
_FILE_SCHEMES = frozenset(
    {"abfss", "adl", "dbfs", "file", "gs", "hdfs", "s3", "sftp", "viewfs", "wasbs", "webhdfs"}
)
_TABLE_SCHEMES = frozenset(
    {
        "awsathena", "bigquery", "cassandra", "db2", "hive", "mariadb", "mysql", "oracle",
        "postgres", "presto", "redshift", "snowflake", "sqlserver", "teradata", "trino", "vertica",
    }
)  # fmt: skip


def dataset_label(type: str | None, storage: str | None, namespace: str) -> str | None:
    """Return the extra label of a dataset, or None.

    Args:
        type: The type that the producer reports, if any.
        storage: The table format, if any.
        namespace: The namespace of the canonical name.
    """
    if type is not None:
        return _BY_TYPE.get(type.upper().replace(" ", "_").replace("-", "_"))
    if storage is not None:
        return TABLE
    scheme = namespace.partition(":")[0]
    if scheme in _TOPIC_SCHEMES:
        return TOPIC
    if scheme in _FILE_SCHEMES:
        return FILE
    return TABLE if scheme in _TABLE_SCHEMES else None
