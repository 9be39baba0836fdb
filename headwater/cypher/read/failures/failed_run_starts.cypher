// Where the consequences of some runs begin: the datasets each wrote, and what its jobs are known to produce.
// access: read
// params: $urns LIST<STRING>
// returns: urn, startedAt, written, known
// example: headwater cypher read/failures/failed_run_starts --param urns=run:RUN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
RETURN urn, coalesce(r.startedAt, r.failedAt, r.finishedAt) AS startedAt,
  COLLECT { MATCH (r)-[:PRODUCED]->(a:Artifact) RETURN DISTINCT a.dataset } AS written,
  COLLECT { MATCH (r)-[:RUN_OF]->(:Job)-[:PRODUCED]->(d:Dataset) RETURN DISTINCT d.urn } AS known
