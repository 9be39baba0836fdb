// Other names of datasets, and the dataset that each is a name of.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MERGE (s:Symlink {urn: row.urn})
SET s += row.properties
WITH s, row
MATCH (d:Dataset {urn: row.canonical})
CALL (s, d) {
  MATCH (s)-[old:SYMLINK_OF]->(other)
  WHERE other <> d
  DELETE old
}
MERGE (s)-[:SYMLINK_OF]->(d)
