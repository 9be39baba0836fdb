// Link a run to its job. The edge has `indexedUnder` if the index of the job's runs misses this
// run: the run has no start, or the name of another of its jobs.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (r:PipelineRun {urn: row.run})
MATCH (j:Job {urn: row.job})
MERGE (r)-[e:RUN_OF]->(j)
SET e.indexedUnder = CASE
  WHEN r.namespace = j.namespace AND r.pipelineName = j.name AND r.startedAt IS NOT NULL THEN null
    ELSE j.urn END
