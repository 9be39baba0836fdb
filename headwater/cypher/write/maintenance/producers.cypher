// Set the counts of event producers.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MERGE (n:Producer {urn: row.urn})
SET n += row.properties
