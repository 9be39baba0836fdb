// Return the facts of the given tags.
// access: read
// params: $urns LIST<STRING>
// returns: urn, facts
// example: headwater cypher read/write_path/facts_of_tags --param urns=URN,URN
UNWIND $urns AS urn
MATCH (n:Tag {urn: urn})
RETURN urn, n.facts AS facts
