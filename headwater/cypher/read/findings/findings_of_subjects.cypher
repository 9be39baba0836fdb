// Return the findings of the given nodes: the open ones first, then those with the newest evidence.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20
// returns: subject, properties
// example: headwater cypher read/findings/findings_of_subjects --param urns=URN,URN
UNWIND $urns AS subject
CALL (subject) {
  MATCH (f:Finding {subject: subject})
  RETURN f
  ORDER BY f.isOpen DESC, f.lastSeen DESC, f.urn
  LIMIT $limit
}
RETURN subject, properties(f) AS properties
