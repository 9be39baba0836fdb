// Set which datasets jobs write now: the used ones, declared ones, and those that name the job as
// their producer. Without a run that succeeded and a declaration, all but the datasets that no
// longer name it. `datasets` names the outputs to set; null means all. An output whose urn is in
// `used` once more after "* " comes from all inputs of the job. `returning` are those of `used`
// that the newest execution did not write, and to which the job comes back.
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
    MATCH (whole)-[e:PRODUCED]->(d:Dataset)
    RETURN d, e
    UNION ALL
    UNWIND row.datasets AS urn
    MATCH (j)-[e:PRODUCED]->(d:Dataset {urn: urn})
    RETURN d, e
  }
  WITH l, j, d, e, coalesce(e.declared, false) OR d.urn IN row.used
    OR coalesce(e.assertedByDataset, false)
    OR (NOT row.hasRun AND NOT coalesce(j.declaresOutputs, false)
      AND e.assertedByDataset IS NULL) AS current, '* ' + d.urn IN row.used AS fromAllInputs,
    d.urn IN row.returning AS returning
  WHERE e.current IS NULL OR e.current <> current
    OR coalesce(e.fromAllInputs, false) <> fromAllInputs
    OR coalesce(e.returning, false) <> returning
  SET e.current = current, e.fromAllInputs = CASE WHEN fromAllInputs THEN true END,
    e.returning = CASE WHEN returning THEN true END,
    d.lineageRevision = l.revision, j.lineageRevision = l.revision
}
