// Return the facts of the given jobs.
// access: read
// params: $urns LIST<STRING>
// returns: urn, facts
// example: headwater cypher read/write_path/facts_of_jobs --param urns=URN,URN
UNWIND $urns AS urn
MATCH (n:Job {urn: urn})
RETURN urn, n.facts AS facts
