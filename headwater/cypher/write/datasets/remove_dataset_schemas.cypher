// Remove schemas from a dataset: only a name that left it had them.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (:Dataset {urn: row.dataset})-[e:HAS_SCHEMA]->(:SchemaVersion {urn: row.schema})
DELETE e
