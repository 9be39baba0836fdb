// Set which datasets jobs read now: the used ones and the declared ones. Without a run that
// succeeded and a declaration, all inputs are current. `datasets` names the inputs to set; null
// means all. `returning` are those of `used` that the newest execution did not read, and to which
// the job comes back.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
MATCH (l:WriteLock {name: 'graph'})
UNWIND $rows AS row
MATCH (j:Job {urn: row.job})
CALL (l, j, row) {
  CALL (j, row) {
    UNWIND CASE WHEN row.datasets IS NULL THEN [j] ELSE [] END AS whole
    MATCH (d:Dataset)-[e:FEEDS]->(whole)
    RETURN d, e
    UNION ALL
    UNWIND row.datasets AS urn
    MATCH (d:Dataset {urn: urn})-[e:FEEDS]->(j)
    RETURN d, e
  }
  WITH l, j, d, e, coalesce(e.declared, false) OR d.urn IN row.used
    OR (NOT row.hasRun AND NOT coalesce(j.declaresInputs, false)) AS current,
    d.urn IN row.returning AS returning
  WHERE e.current IS NULL OR e.current <> current OR coalesce(e.returning, false) <> returning
  SET e.current = current, e.returning = CASE WHEN returning THEN true END,
    d.lineageRevision = l.revision, j.lineageRevision = l.revision
}
