// Return how many findings of the given nodes are open, and the most urgent tier of each node's.
// $visible: the visible namespaces, as regular expressions; null: all.
// access: read
// params: $urns LIST<STRING>, $visible LIST<STRING> = null
// returns: subject, count, tier
// example: headwater cypher read/findings/open_of_subjects --param urns=dataset:file:/raw/planes
UNWIND $urns AS subject
MATCH (f:Finding {subject: subject})
WHERE f.isOpen = true
  AND ($visible IS NULL OR size(f.namespaces) > 0
    AND all(n IN f.namespaces WHERE any(p IN $visible WHERE n =~ p)))
RETURN subject, count(*) AS count, min(f.tier) AS tier
