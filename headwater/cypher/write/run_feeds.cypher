// The data of one run went into another without a dataset between.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (a:PipelineRun {urn: row.before})
MATCH (b:PipelineRun {urn: row.run})
MERGE (a)-[:FEEDS]->(b)
