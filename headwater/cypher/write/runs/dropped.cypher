// Record that a run dropped a dataset. A drop is no production.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (r:PipelineRun {urn: row.run})
MATCH (d:Dataset {urn: row.dataset})
MERGE (r)-[:DROPPED]->(d)
