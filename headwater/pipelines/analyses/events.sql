-- One row for each run event, with the fields that the analyses need.
-- Other events have no run or time.
SELECT
  try_to_timestamp(event.eventTime) AS at,
  upper(event.eventType) AS type,
  coalesce(event.producer, '') AS producer,
  lower(event.run.runId) AS run,
  event.job.namespace AS job_namespace,
  event.job.name AS job_name,
  -- A job on Spark's RDDs, and any job of a Spark listener that sends no type.
  coalesce(event.job.facets.jobType.jobType = 'RDD_JOB',
    contains(coalesce(event.producer, ''), '/integration/spark')) AS is_rdd_job,
  coalesce(event.inputs, array()) AS inputs,
  coalesce(event.outputs, array()) AS outputs
FROM (
  SELECT from_json(body, '
    eventType STRING, eventTime STRING, producer STRING, run STRUCT<runId: STRING>,
    job STRUCT<namespace: STRING, name: STRING, facets: STRUCT<jobType: STRUCT<jobType: STRING>>>,
    inputs ARRAY<STRUCT<namespace: STRING, name: STRING,
      facets: STRUCT<schema: STRUCT<fields: ARRAY<STRUCT<name: STRING, type: STRING>>>>,
      inputFacets: STRUCT<inputStatistics: STRUCT<rowCount: BIGINT, size: BIGINT>>>>,
    outputs ARRAY<STRUCT<namespace: STRING, name: STRING,
      facets: STRUCT<schema: STRUCT<fields: ARRAY<STRUCT<name: STRING, type: STRING>>>, columnLineage: STRING>,
      outputFacets: STRUCT<outputStatistics: STRUCT<rowCount: BIGINT, size: BIGINT>>>>
  ') AS event
  FROM raw
)
WHERE event.run.runId IS NOT NULL AND event.job.name IS NOT NULL AND try_to_timestamp(event.eventTime) IS NOT NULL
