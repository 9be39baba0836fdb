// What the graph has counted of some producers, as the worker adds it up.
// access: read
// params: $urns LIST<STRING>
// returns: urn, tally
// example: headwater cypher read/write_path/stats_of_producers --param urns=URN,URN
UNWIND $urns AS urn
MATCH (n:Producer {urn: urn})
RETURN urn, n.tally AS tally
