// Return the facts of the given answers.
// access: read
// params: $urns LIST<STRING>
// returns: urn, facts
// example: headwater cypher read/write_path/facts_of_answers --param urns=URN,URN
UNWIND $urns AS urn
MATCH (n:Answer {urn: urn})
RETURN urn, n.facts AS facts
