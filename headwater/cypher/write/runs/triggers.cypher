// Record control flow: one run was to start after another. No data passes.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (a:PipelineRun {urn: row.before})
MATCH (b:PipelineRun {urn: row.run})
MERGE (a)-[:TRIGGERS]->(b)
