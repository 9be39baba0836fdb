// Edges of the map that were seen again, by their ids: whoever has written an edge knows it, and need not know when it was
// seen before that. Their types are named because an empty graph would otherwise be planned for as one in which looking
// at every edge is quickest.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH ()-[e:FEEDS|PRODUCED|TRIGGERS]->()
WHERE elementId(e) = row.edge
SET e.lastSeen = CASE WHEN e.lastSeen >= row.last THEN e.lastSeen ELSE row.last END
