// Set the findings of an analysis of the lake, in place of those of the last one about the same
// subject.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by `headwater pipeline analyse`
UNWIND $rows AS row
MERGE (a:Analysis {urn: row.urn})
SET a += row.properties
WITH a, row
CALL (row) {
  MATCH (n:Dataset {urn: row.subject}) RETURN n
  UNION
  MATCH (n:Job {urn: row.subject}) RETURN n
}
MERGE (a)-[:ABOUT]->(n)
