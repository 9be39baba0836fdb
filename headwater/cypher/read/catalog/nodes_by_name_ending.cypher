// Return the datasets, jobs and answers whose name ends with one of these texts. An alias is a name
// of its dataset. $visible: the namespaces of datasets, jobs and aliases, and those in which
// everything under an answer must lie, as regular expressions; null: any.
// access: read
// params: $endings LIST<STRING>, $visible LIST<STRING> = null, $limit INTEGER = 1000
// returns: urn
// example: run by `headwater lineage raw/planes`
UNWIND $endings AS ending
CALL (ending) {
  MATCH (n:Dataset) WHERE n.name ENDS WITH ending
    AND ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
  RETURN n.urn AS urn LIMIT $limit
  UNION ALL
  MATCH (s:Symlink) WHERE s.name ENDS WITH ending
    AND ($visible IS NULL OR any(p IN $visible WHERE s.namespace =~ p))
  MATCH (s)-[:SYMLINK_OF]->(n:Dataset)
  WHERE $visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p)
  RETURN n.urn AS urn LIMIT $limit
  UNION ALL
  MATCH (n:Job) WHERE n.name ENDS WITH ending
    AND ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
  RETURN n.urn AS urn LIMIT $limit
  UNION ALL
  MATCH (n:Answer) WHERE n.answerId ENDS WITH ending
    AND ($visible IS NULL OR (EXISTS { (n)<-[:CITED_BY*1..20]-(:Source|Artifact|Column) }
      AND NOT EXISTS {
        (n)<-[:CITED_BY*1..20]-(v:Source|Artifact|Column)
        WHERE none(p IN $visible WHERE v.namespace =~ p)
      }))
  RETURN n.urn AS urn LIMIT $limit
}
RETURN DISTINCT urn ORDER BY urn LIMIT $limit
