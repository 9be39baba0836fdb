// Return the jobs that the given jobs contain, up to eight levels down: the tasks of a DAG, the SQL
// executions of an application.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 1000
// returns: urn, jobs
// example: headwater cypher read/findings/contained_jobs --param urns=job:airflow:daily
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})
RETURN urn, COLLECT {
  MATCH (part:Job)-[:PART_OF]->{1,8}(j)
  RETURN DISTINCT part.urn ORDER BY part.urn LIMIT $limit
} AS jobs
