// Return those of the given runs that are in the graph. `hasEvents` is false for a run that only
// other
// runs name.
// access: read
// params: $urns LIST<STRING>
// returns: urn, hasEvents
// example: headwater cypher read/write_path/existing_runs --param urns=URN,URN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
RETURN urn, coalesce(r.lastSeen, r.finishedAt) IS NOT NULL AS hasEvents
