// Write what an analysis of the lake found, in place of what the last one found of the same.
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
