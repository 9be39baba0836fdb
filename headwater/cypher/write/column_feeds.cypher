// Column lineage: a field comes from another field through a job, in some ways (DIRECT:IDENTITY, INDIRECT:FILTER).
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (a:Column {urn: row.source})
MATCH (b:Column {urn: row.target})
MERGE (a)-[e:FEEDS {job: row.job, sentAs: row.sentAs}]->(b)
SET e.firstSeen = CASE WHEN e.firstSeen <= row.first THEN e.firstSeen ELSE row.first END,
    e.ways = COLLECT { UNWIND coalesce(e.ways, []) + row.ways AS way RETURN DISTINCT way ORDER BY way }
