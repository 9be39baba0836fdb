// Control flow: one run was to begin after another. No data flows along it.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (a:PipelineRun {urn: row.before})
MATCH (b:PipelineRun {urn: row.run})
MERGE (a)-[:TRIGGERS]->(b)
