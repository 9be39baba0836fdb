// Set the properties of answers.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MERGE (n:Answer {urn: row.urn})
SET n += row.properties
