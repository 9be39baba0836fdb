// Return every finding of the given nodes.
// access: read
// params: $urns LIST<STRING>
// returns: urn, properties
// example: run by `headwater detect`
UNWIND $urns AS subject
MATCH (f:Finding {subject: subject})
RETURN f.urn AS urn, properties(f) AS properties
