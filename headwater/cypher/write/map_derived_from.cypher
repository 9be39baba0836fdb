// The map: a dataset is known to come from another when a job makes it ('' where no job was named). ways tells how it
// is known: columns (column lineage), lineage (a run said so), declared (said without a run), renamed (by a run).
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
MATCH (l:WriteLock {name: 'graph'})
UNWIND $rows AS row
MATCH (o:Dataset {urn: row.source})
MATCH (i:Dataset {urn: row.target})
MERGE (o)-[e:DERIVED_FROM {job: row.job, sentAs: row.sentAs}]->(i)
SET o.mapRevision = l.revision,
    i.mapRevision = l.revision,
    e += row.properties,
    e.firstSeen = CASE WHEN e.firstSeen <= row.first THEN e.firstSeen ELSE row.first END,
    e.ways = COLLECT { UNWIND coalesce(e.ways, []) + row.ways AS way RETURN DISTINCT way ORDER BY way }
