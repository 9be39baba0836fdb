// Set that a column comes from another through a job, with its transformations (DIRECT:IDENTITY,
// INDIRECT:FILTER).
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (a:Column {urn: row.source})
MATCH (b:Column {urn: row.target})
MERGE (a)-[e:FEEDS {job: row.job, reportedUrns: row.reportedUrns}]->(b)
SET e.firstSeen = CASE WHEN e.firstSeen <= row.first THEN e.firstSeen ELSE row.first END,
    e.transformations = COLLECT {
      UNWIND coalesce(e.transformations, []) + row.transformations AS one
      RETURN DISTINCT one ORDER BY one
    }
