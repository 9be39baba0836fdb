// Set the definitions of tags.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MERGE (n:Tag {urn: row.urn})
SET n += row.properties
