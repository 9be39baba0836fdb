// Which job a run is a run of. Those that are not found by their own name and the time of their start under this job,
// because another of their jobs gave them their name or they have no start, stand aside.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (r:PipelineRun {urn: row.run})
MATCH (j:Job {urn: row.job})
MERGE (r)-[e:RUN_OF]->(j)
SET e.indexedUnder = CASE
  WHEN r.namespace = j.namespace AND r.pipelineName = j.name AND r.startedAt IS NOT NULL THEN null ELSE j.urn END
