// Which run a run is part of.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (r:PipelineRun {urn: row.run})
MATCH (above:PipelineRun {urn: row.parent})
MERGE (r)-[:PART_OF]->(above)
