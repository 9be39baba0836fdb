// Create columns that only a column edge or an answer names.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
MATCH (l:WriteLock {name: 'graph'})
UNWIND $rows AS row
MATCH (d:Dataset {urn: row.dataset})
MERGE (c:Column {urn: row.urn})
ON CREATE SET c += row.properties, c.current = false
MERGE (d)-[:HAS_COLUMN]->(c)
SET d.lineageRevision = l.revision
