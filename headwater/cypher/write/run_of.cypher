// Which job a run is a run of.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (r:PipelineRun {urn: row.run})
MATCH (j:Job {urn: row.job})
MERGE (r)-[:RUN_OF]->(j)
