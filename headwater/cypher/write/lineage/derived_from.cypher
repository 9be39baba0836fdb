// Set that a dataset comes from another when a job writes it ('' if no job was named). `evidence`
// is how that is known: columns (column lineage), lineage (reported by a run), declared (reported
// without a run), renamed (by a run).
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
MATCH (l:WriteLock {name: 'graph'})
UNWIND $rows AS row
MATCH (o:Dataset {urn: row.source})
MATCH (i:Dataset {urn: row.target})
MERGE (o)-[e:DERIVED_FROM {job: row.job, reportedUrns: row.reportedUrns}]->(i)
SET o.lineageRevision = l.revision,
    i.lineageRevision = l.revision,
    e += row.properties,
    e.firstSeen = CASE WHEN e.firstSeen <= row.first THEN e.firstSeen ELSE row.first END,
    e.evidence = COLLECT {
      UNWIND coalesce(e.evidence, []) + row.evidence AS one RETURN DISTINCT one ORDER BY one
    }
