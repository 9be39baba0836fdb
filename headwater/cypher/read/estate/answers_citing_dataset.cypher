// Return the answers generated in a time window that cite a dataset, a version or a column of it,
// newest first. $visible: the namespaces in which everything under the answer must lie, as regular
// expressions; null: any.
// access: read
// params: $urn STRING, $since DATETIME, $until DATETIME, $visible LIST<STRING> = null, $limit
//   INTEGER
//   = 1000
// returns: urn, generatedAt
// example: headwater usage dataset:file:/raw/planes
CALL () {
  MATCH ()-[e:CITED_BY]->(a:Answer)
  USING INDEX SEEK e:CITED_BY(dataset)
  WHERE e.dataset = $urn
  RETURN a
  UNION
  MATCH (:Dataset {urn: $urn})-[:HAS_COLUMN]->(:Column)-[:CITED_BY]->(a:Answer)
  RETURN a
}
WITH a
WHERE a.generatedAt >= $since AND a.generatedAt < $until AND ($visible IS NULL OR NOT EXISTS {
  (a)<-[:CITED_BY*1..20]-(v:Source|Artifact|Column) WHERE none(p IN $visible WHERE v.namespace =~ p)
})
RETURN a.urn AS urn, a.generatedAt AS generatedAt
ORDER BY generatedAt DESC, urn
LIMIT $limit
