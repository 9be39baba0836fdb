// Return the inputs and outputs of one run with row counts: the evidence for a single step.
// access: read
// params: $runId STRING
// returns: role, kind, namespace, name, madeBy, rowCount, at
// example: headwater cypher run_inputs_outputs --param runId=RUN
MATCH (r:PipelineRun {runId: $runId})
CALL (r) {
  MATCH (v:Source|Artifact)-[f:FEEDS]->(r)
  RETURN 'read' AS role, v, coalesce(f.rowCount, v.rowCount) AS rowCount
  UNION ALL
  MATCH (r)-[:PRODUCED]->(v:Artifact)
  RETURN 'wrote' AS role, v, v.rowCount AS rowCount
}
RETURN role, head(labels(v)) AS kind, v.namespace AS namespace, v.name AS name, v.runId AS madeBy,
  rowCount,
  coalesce(v.createdAt, v.capturedAt) AS at
ORDER BY role, namespace, name
