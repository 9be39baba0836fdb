// Set the attempt number of each run in its schedule slot and link it to the attempt before.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (r:PipelineRun {urn: row.run})
SET r.attempt = row.attempt, r.retried = row.retried, r.changedAt = datetime.realtime()
WITH r, row
CALL (r) {
  MATCH (r)-[old:RETRY_OF]->(:PipelineRun)
  DELETE old
}
WITH r, row
MATCH (p:PipelineRun {urn: row.previous})
MERGE (r)-[:RETRY_OF]->(p)
