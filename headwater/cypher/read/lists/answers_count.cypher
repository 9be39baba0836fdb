// Count the answers that read/lists/answers lists on all pages, by the same index.
// access: read
// params: $since DATETIME, $until DATETIME, $namespace STRING = "", $visible LIST<STRING> = null
// returns: count
// example: headwater answers
MATCH (a:Answer)
USING INDEX SEEK a:Answer(generatedAt)
WHERE a.generatedAt >= $since AND a.generatedAt < $until
  AND ($namespace = '' OR EXISTS {
    (a)<-[:CITED_BY*1..20]-(v:Source|Artifact|Column) WHERE v.namespace = $namespace
  })
  AND ($visible IS NULL OR (EXISTS { (a)<-[:CITED_BY*1..20]-(:Source|Artifact|Column) }
    AND NOT EXISTS {
      (a)<-[:CITED_BY*1..20]-(v:Source|Artifact|Column)
      WHERE none(p IN $visible WHERE coalesce(v.namespace, '') =~ p)
    }))
RETURN count(*) AS count
