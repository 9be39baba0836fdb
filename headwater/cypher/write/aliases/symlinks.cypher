// Set other names of datasets and link each to its dataset.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
MATCH (l:WriteLock {name: 'graph'})
UNWIND $rows AS row
MERGE (s:Symlink {urn: row.urn})
SET s += row.properties
WITH l, s, row
MATCH (d:Dataset {urn: row.canonical})
SET s.lineageRevision = CASE
  WHEN EXISTS { (s)-[:SYMLINK_OF]->(d) } THEN s.lineageRevision
  ELSE l.revision END
WITH s, d
CALL (s, d) {
  MATCH (s)-[old:SYMLINK_OF]->(other)
  WHERE other <> d
  DELETE old
}
MERGE (s)-[:SYMLINK_OF]->(d)
