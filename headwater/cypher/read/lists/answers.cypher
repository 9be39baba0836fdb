// Return a page of answers, newest first. Answers that are only cited have no time and are not
// listed. $since is inclusive, $until is exclusive. $namespace: only answers that rest on data of
// this namespace. $cursorTime and $cursorUrn are the last row of the page before. $visible: the
// namespaces in which everything under an answer must lie, as regular expressions; null: any.
// access: read
// params: $since DATETIME, $until DATETIME, $namespace STRING = "", $visible LIST<STRING> = null,
//   $cursorTime DATETIME, $cursorUrn STRING = "", $limit INTEGER = 20
// returns: urn, at, properties
// example: headwater answers
MATCH (a:Answer)
USING INDEX SEEK a:Answer(generatedAt)
WHERE a.generatedAt >= $since AND a.generatedAt < $until AND a.generatedAt <= $cursorTime
  AND NOT (a.generatedAt = $cursorTime AND a.urn <= $cursorUrn)
  AND ($namespace = '' OR EXISTS {
    (a)<-[:CITED_BY*1..20]-(v:Source|Artifact|Column) WHERE v.namespace = $namespace
  })
  AND ($visible IS NULL OR (EXISTS { (a)<-[:CITED_BY*1..20]-(:Source|Artifact|Column) }
    AND NOT EXISTS {
      (a)<-[:CITED_BY*1..20]-(v:Source|Artifact|Column)
      WHERE none(p IN $visible WHERE coalesce(v.namespace, '') =~ p)
    }))
RETURN a.urn AS urn, a.generatedAt AS at, a {.*, facts: null} AS properties
ORDER BY at DESC, urn
LIMIT $limit
