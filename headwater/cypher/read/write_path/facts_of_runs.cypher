// Return the facts of the given runs.
// access: read
// params: $urns LIST<STRING>
// returns: urn, facts
// example: headwater cypher read/write_path/facts_of_runs --param urns=URN,URN
UNWIND $urns AS urn
MATCH (n:PipelineRun {urn: urn})
RETURN urn, n.facts AS facts
