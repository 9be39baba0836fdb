// The facts that the graph holds of some datasets.
// access: read
// params: $urns LIST<STRING>
// returns: urn, facts
// example: headwater cypher read/facts_of_datasets --param urns=URN,URN
UNWIND $urns AS urn
MATCH (n:Dataset {urn: urn})
RETURN urn, n.facts AS facts
