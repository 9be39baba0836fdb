// Set that every row of a dataset depends on a column of another, by which it was filtered, joined
// or sorted.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
MATCH (l:WriteLock {name: 'graph'})
UNWIND $rows AS row
MATCH (a:Column {urn: row.source})
MATCH (b:Dataset {urn: row.target})
MERGE (a)-[e:FEEDS {job: row.job, reportedUrns: row.reportedUrns}]->(b)
SET b.lineageRevision = l.revision,
    e.firstSeen = CASE WHEN e.firstSeen <= row.first THEN e.firstSeen ELSE row.first END,
    e.transformations = COLLECT {
      UNWIND coalesce(e.transformations, []) + row.transformations AS one
      RETURN DISTINCT one ORDER BY one
    }
