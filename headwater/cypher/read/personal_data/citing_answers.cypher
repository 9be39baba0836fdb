// Return the answers that cite the given answers.
// access: read
// params: $urns LIST<STRING>
// returns: urn, answers
// example: headwater personal-data
UNWIND $urns AS urn
MATCH (a:Answer {urn: urn})
RETURN urn, COLLECT { MATCH (a)-[:CITED_BY]->(b:Answer) RETURN DISTINCT b.urn } AS answers
