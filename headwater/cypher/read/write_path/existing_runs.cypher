// Which of some runs are in the graph, be it only because another names them; `told` when it was heard of itself.
// access: read
// params: $urns LIST<STRING>
// returns: urn, told
// example: headwater cypher read/write_path/existing_runs --param urns=URN,URN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
RETURN urn, coalesce(r.lastSeen, r.finishedAt) IS NOT NULL AS told
