// Set schemas by their hash. Every version with the same schema shares the node.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MERGE (s:SchemaVersion {urn: row.urn})
SET s += row.properties
