// Set when edges were last observed, by element id. The writer of an edge knows its id and needs no
// older times. The types are named because statistics of an empty graph would make a scan of all
// edges look cheap.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH ()-[e:FEEDS|PRODUCED|TRIGGERS]->()
WHERE elementId(e) = row.edge
SET e.lastSeen = CASE WHEN e.lastSeen >= row.last THEN e.lastSeen ELSE row.last END
