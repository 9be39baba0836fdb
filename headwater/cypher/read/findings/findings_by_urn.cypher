// Return the given findings.
// access: read
// params: $urns LIST<STRING>
// returns: urn, properties
// example: headwater cypher read/findings/findings_by_urn --param urns=URN,URN
UNWIND $urns AS urn
MATCH (f:Finding {urn: urn})
RETURN urn, properties(f) AS properties
