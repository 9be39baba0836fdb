// Mark columns that the schema no longer lists and no tag names.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
UNWIND $urns AS urn
MATCH (c:Column {urn: urn})
SET c.current = false, c.type = null, c.tags = null
