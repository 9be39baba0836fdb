// Which job a job is part of: the task its DAG, the SQL execution its application.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (a:Job {urn: row.source})
MATCH (b:Job {urn: row.target})
MERGE (a)-[e:PART_OF]->(b)
SET e += row.properties,
    e.firstSeen = CASE WHEN e.firstSeen <= row.first THEN e.firstSeen ELSE coalesce(row.first, e.firstSeen) END,
    e.lastSeen = CASE WHEN e.lastSeen >= row.last THEN e.lastSeen ELSE coalesce(row.last, e.lastSeen) END
