// Create runs that the graph does not have, with their RUN_OF edges and the versions they wrote. An
// event may have named such a version before. runs/run_of and versions/artifacts explain
// `indexedUnder`.
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
  CREATE (r)-[e:RUN_OF]->(j)
  SET e.indexedUnder = CASE
    WHEN r.namespace = j.namespace AND r.pipelineName = j.name AND r.startedAt IS NOT NULL THEN null
    ELSE j.urn END
}
CALL (r, row) {
  UNWIND row.made AS made
  MATCH (d:Dataset {urn: made.dataset})
  MERGE (a:Artifact {urn: made.urn})
  SET a += made.properties
  CREATE (r)-[p:PRODUCED]->(a)
  SET p = made.produced
  MERGE (a)-[v:VERSION_OF]->(d)
  SET v.indexedUnder = CASE WHEN a.complete IS NULL OR a.createdAt IS NULL THEN d.urn END
  WITH a, made
  MATCH (s:SchemaVersion {urn: made.schema})
  MERGE (a)-[:HAS_SCHEMA]->(s)
}
