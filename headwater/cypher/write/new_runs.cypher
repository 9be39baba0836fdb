// Runs that were not there before: their nodes, their jobs, and the versions they made. A version may have been named
// before it was made.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
CREATE (r:PipelineRun)
SET r = row.properties, r.changedAt = datetime.realtime()
WITH r, row
CALL (r, row) {
  UNWIND row.jobs AS job
  MATCH (j:Job {urn: job})
  CREATE (r)-[:RUN_OF]->(j)
}
CALL (r, row) {
  UNWIND row.made AS made
  MATCH (d:Dataset {urn: made.dataset})
  MERGE (a:Artifact {urn: made.urn})
  SET a += made.properties
  CREATE (r)-[p:PRODUCED]->(a)
  SET p = made.produced
  MERGE (a)-[:VERSION_OF]->(d)
  WITH a, made
  MATCH (s:SchemaVersion {urn: made.schema})
  MERGE (a)-[:HAS_SCHEMA]->(s)
}
