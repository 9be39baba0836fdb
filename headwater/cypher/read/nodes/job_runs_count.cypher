// Count the runs of each of the given jobs. $visible: the namespaces in which all jobs of a run
// must lie, as regular expressions; null: any.
// access: read
// params: $urns LIST<STRING>, $visible LIST<STRING> = null
// returns: urn, count
// example: headwater cypher read/nodes/job_runs_count --param urns=job:spark:flights.clean
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})
RETURN urn, CASE WHEN $visible IS NULL THEN COUNT { ()-[:RUN_OF]->(j) } ELSE COUNT {
  MATCH (r:PipelineRun)-[:RUN_OF]->(j)
  WHERE NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
    WHERE none(p IN $visible WHERE other.namespace =~ p) }
} END AS count
