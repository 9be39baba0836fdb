// Return the stored counts of the given findings, for the worker to add to.
// access: read
// params: $urns LIST<STRING>
// returns: urn, statistics
// example: headwater cypher read/write_path/stats_of_conformance_findings --param urns=URN,URN
UNWIND $urns AS urn
MATCH (n:ConformanceFinding {urn: urn})
RETURN urn, n.statistics AS statistics
