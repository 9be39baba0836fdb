// What the graph has counted of some findings, as the worker adds it up.
// access: read
// params: $urns LIST<STRING>
// returns: urn, tally
// example: headwater cypher read/write_path/stats_of_findings --param urns=URN,URN
UNWIND $urns AS urn
MATCH (n:Finding {urn: urn})
RETURN urn, n.tally AS tally
