// Record that data of one run passed to another without a dataset.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (a:PipelineRun {urn: row.before})
MATCH (b:PipelineRun {urn: row.run})
MERGE (a)-[:FEEDS]->(b)
