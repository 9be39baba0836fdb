// What one run read and wrote, with row counts: the evidence for a single step. A urn begins as the
// run id does, up to the first character that a urn spells otherwise.
// access: read
// params: $runId STRING
// returns: role, kind, namespace, name, madeBy, rowCount, at
// example: headwater cypher run_inputs_outputs --param runId=RUN
WITH [i IN range(0, size($runId) - 1) WHERE NOT substring($runId, i, 1) =~ '[A-Za-z0-9_.~/-]' | i] AS spelled
MATCH (r:PipelineRun)
WHERE r.urn STARTS WITH 'run:' + left($runId, coalesce(spelled[0], size($runId))) AND r.runId = $runId
CALL (r) {
  MATCH (v:Source|Artifact)-[f:FEEDS]->(r)
  RETURN 'read' AS role, v, coalesce(f.rowCount, v.rowCount) AS rowCount
  UNION ALL
  MATCH (r)-[:PRODUCED]->(v:Artifact)
  RETURN 'wrote' AS role, v, v.rowCount AS rowCount
}
RETURN role, head(labels(v)) AS kind, v.namespace AS namespace, v.name AS name, v.runId AS madeBy, rowCount,
  coalesce(v.createdAt, v.capturedAt) AS at
ORDER BY role, namespace, name
