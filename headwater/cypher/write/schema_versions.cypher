// Schemas by their hash, shared by every version of any dataset that has them.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MERGE (s:SchemaVersion {urn: row.urn})
SET s += row.properties
