// The labels of datasets by type, as headwater/schema/dataset_labels.py sets them, and the training data of models, as
// write/lineage/trained_on sets it. Two scans of labels in batches; the names of models and features get an index.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE INDEX model_name IF NOT EXISTS FOR (n:Model) ON (n.name);
CREATE INDEX feature_name IF NOT EXISTS FOR (n:Feature) ON (n.name);
MATCH (d:Dataset)
CALL (d) {
  WITH d, replace(replace(toUpper(d.type), ' ', '_'), '-', '_') AS type,
    split(d.namespace, ':')[0] AS scheme
  WITH d, CASE
    WHEN type IN ['DBT_MODEL', 'DBT_SEED', 'DBT_SNAPSHOT', 'EXTERNAL_TABLE', 'HIVE_TABLE', 'RDBMS_TABLE', 'TABLE',
      'TEMPORARY_TABLE'] THEN 'Table'
    WHEN type IN ['KAFKA_TOPIC', 'QUEUE', 'STREAM', 'TOPIC'] THEN 'Topic'
    WHEN type IN ['ML_MODEL', 'MODEL'] THEN 'Model'
    WHEN type IN ['FEATURE', 'FEATURES', 'FEATURE_GROUP', 'FEATURE_SET', 'FEATURE_TABLE', 'FEATURE_VIEW'] THEN 'Feature'
    WHEN type IN ['MATERIALIZED_VIEW', 'VIEW'] THEN 'View'
    WHEN type IN ['DIRECTORY', 'FILE', 'PATH'] THEN 'File'
    WHEN type IS NOT NULL THEN null
    WHEN d.storage IS NOT NULL THEN 'Table'
    WHEN scheme IN ['kafka', 'kinesis', 'mqtt', 'pubsub', 'pulsar'] THEN 'Topic'
    WHEN scheme IN ['abfss', 'adl', 'dbfs', 'file', 'gs', 'hdfs', 's3', 'sftp', 'viewfs', 'wasbs', 'webhdfs'] THEN 'File'
    WHEN scheme IN ['awsathena', 'bigquery', 'cassandra', 'db2', 'hive', 'mariadb', 'mysql', 'oracle', 'postgres',
      'presto', 'redshift', 'snowflake', 'sqlserver', 'teradata', 'trino', 'vertica'] THEN 'Table' END AS label
  WHERE label IS NOT NULL
  SET d:$(label)
} IN TRANSACTIONS OF 10000 ROWS;
MATCH (m:Model)
CALL (m) {
  MATCH (m)<-[p:PRODUCED {current: true}]-(j:Job)<-[:FEEDS {current: true}]-(i:Dataset)
  WHERE i <> m
    AND ((p.explicit AND EXISTS {
        (m)-[r:DERIVED_FROM WHERE r.job = j.urn AND ('lineage' IN r.evidence OR r.declared)]->(i)
      })
      OR (p.explicit IS NULL AND (p.fromAllInputs OR NOT EXISTS { (m)-[r:DERIVED_FROM
        WHERE r.job = j.urn]->(:Dataset)-[:FEEDS]->(j) }
        OR EXISTS { (m)-[r:DERIVED_FROM WHERE r.job = j.urn]->(i) })))
  MERGE (m)-[:TRAINED_ON]->(i)
} IN TRANSACTIONS OF 1000 ROWS;
