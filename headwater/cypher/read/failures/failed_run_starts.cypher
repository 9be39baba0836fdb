// Return the datasets where the impact of the given failed runs begins: those each run wrote, and
// the known outputs of its jobs.
// access: read
// params: $urns LIST<STRING>
// returns: urn, startedAt, written, known
// example: headwater cypher read/failures/failed_run_starts --param urns=run:RUN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
RETURN urn, coalesce(r.startedAt, r.failedAt, r.finishedAt) AS startedAt,
  COLLECT { MATCH (r)-[:PRODUCED]->(a:Artifact) RETURN DISTINCT a.dataset } AS written,
  COLLECT { MATCH (r)-[:RUN_OF]->(:Job)-[:PRODUCED]->(d:Dataset) RETURN DISTINCT d.urn } AS known
