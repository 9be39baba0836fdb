// Set the properties of jobs.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
MATCH (l:WriteLock {name: 'graph'})
UNWIND $rows AS row
MERGE (n:Job {urn: row.urn})
SET n += row.properties, n.factsRevision = l.revision,
    n.lineageRevision = CASE WHEN row.isVisibleChange THEN l.revision ELSE n.lineageRevision END
