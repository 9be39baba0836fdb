// Write samples of service levels, one for each level, hour and recorder; a later one of the same
// hour replaces it.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: headwater serve
UNWIND $rows AS row
MERGE (s:ServiceLevelSample {urn: row.urn})
SET s += row.properties
