// Set that a dataset comes from another, reported without a job.
// access: write
// params: $rows LIST<MAP>
// returns: edge, source, target, reportedUrns
// example: run by the worker
MATCH (l:WriteLock {name: 'graph'})
UNWIND $rows AS row
MATCH (a:Dataset {urn: row.source})
MATCH (b:Dataset {urn: row.target})
MERGE (a)-[e:FEEDS {reportedUrns: row.reportedUrns}]->(b)
SET a.lineageRevision = l.revision,
    b.lineageRevision = l.revision,
    e += row.properties,
    e.firstSeen = CASE WHEN e.firstSeen <= row.first THEN e.firstSeen
      ELSE coalesce(row.first, e.firstSeen) END,
    e.lastSeen = CASE WHEN e.lastSeen >= row.last THEN e.lastSeen
      ELSE coalesce(row.last, e.lastSeen) END
RETURN elementId(e) AS edge, row.source AS source, row.target AS target,
  row.reportedUrns AS reportedUrns
