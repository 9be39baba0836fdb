// Set the columns that the schema of a dataset lists now.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (d:Dataset {urn: row.dataset})
MERGE (c:Column {urn: row.urn})
SET c += row.properties
MERGE (d)-[:HAS_COLUMN]->(c)
