// Set findings that are new or changed.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by `headwater detect`
UNWIND $rows AS row
MERGE (f:Finding {urn: row.urn})
SET f += row.properties, f.changedAt = datetime.realtime()
