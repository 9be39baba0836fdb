// Return the findings of the given nodes: the open ones first, then those with the newest evidence.
// $visible: the visible namespaces, as regular expressions; null: all.
// access: read
// params: $urns LIST<STRING>, $visible LIST<STRING> = null, $limit INTEGER = 20
// returns: subject, properties
// example: headwater cypher read/findings/findings_of_subjects --param urns=URN,URN
UNWIND $urns AS subject
CALL (subject) {
  MATCH (f:Finding {subject: subject})
  WHERE $visible IS NULL OR size(f.namespaces) > 0
    AND all(n IN f.namespaces WHERE any(p IN $visible WHERE n =~ p))
  RETURN f
  ORDER BY f.isOpen DESC, f.lastSeen DESC, f.urn
  LIMIT $limit
}
RETURN subject, properties(f) AS properties
