// Write snapshots of figures, one for each figure and day. With $replace false, a day that has one
// keeps it.
// access: write
// params: $rows LIST<MAP>, $replace BOOLEAN = true
// returns: nothing
// example: headwater snapshot
UNWIND $rows AS row
MERGE (s:FigureSnapshot {urn: row.urn})
ON CREATE SET s += row.properties
ON MATCH SET s += CASE WHEN $replace THEN row.properties ELSE {} END
