// Return the given column edges that the present content masks: of the newest complete version of
// the target's dataset and those whose content it keeps, each one that the job wrote masks the
// edge, and there is one. More than 100 kept versions are not followed.
// access: read
// params: $rows LIST<MAP>
// returns: source, target, job
// example: headwater personal-data
UNWIND $rows AS row
WITH row, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = row.dataset AND a.complete = true
    AND a.createdAt > datetime({year: 1})
  RETURN a ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT 1
} AS newest
UNWIND newest AS a
WITH row, COLLECT {
  MATCH (a)<-[:FEEDS*0..100]-(k:Artifact)
  MATCH (k)<-[:PRODUCED]-(:PipelineRun)-[:RUN_OF]->(:Job {urn: row.job})
  RETURN (row.source + ' ' + row.target) IN coalesce(k.maskedColumns, [])
} AS masked,
  EXISTS { (a)<-[:FEEDS*100..100]-(:Artifact) } AS isCut
WHERE size(masked) > 0 AND all(one IN masked WHERE one) AND NOT isCut
RETURN row.source AS source, row.target AS target, row.job AS job
