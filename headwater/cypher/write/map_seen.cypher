// Edges of the map that were seen again, by their ids, as whoever has just written them knows them.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH ()-[e]->()
WHERE elementId(e) = row.edge
SET e.lastSeen = row.last
