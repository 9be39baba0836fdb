// Set which runs contain a run, and remove its other PART_OF edges.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (r:PipelineRun {urn: row.run})
CALL (r, row) {
  MATCH (r)-[old:PART_OF]->(above:PipelineRun)
  WHERE NOT above.urn IN row.parents
  DELETE old
}
WITH r, row
UNWIND row.parents AS parent
MATCH (above:PipelineRun {urn: parent})
MERGE (r)-[:PART_OF]->(above)
