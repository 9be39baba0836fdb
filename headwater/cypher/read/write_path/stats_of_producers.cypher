// Return the stored counts of the given producers, for the worker to add to.
// access: read
// params: $urns LIST<STRING>
// returns: urn, statistics
// example: headwater cypher read/write_path/stats_of_producers --param urns=URN,URN
UNWIND $urns AS urn
MATCH (n:Producer {urn: urn})
RETURN urn, n.statistics AS statistics
