// Set which jobs contain a job (the DAG its tasks, the application its SQL executions), and remove
// its other PART_OF edges.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
MATCH (l:WriteLock {name: 'graph'})
UNWIND $rows AS row
MATCH (j:Job {urn: row.job})
CALL (j, row) {
  MATCH (j)-[old:PART_OF]->(above:Job)
  WHERE NOT above.urn IN row.parents
  DELETE old
}
SET j.lineageRevision = l.revision
WITH j, row
UNWIND row.parents AS parent
MATCH (above:Job {urn: parent})
MERGE (j)-[:PART_OF]->(above)
