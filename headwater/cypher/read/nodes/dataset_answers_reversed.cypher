// Return a page of the answers that cite any version of the given datasets, oldest first. Answers
// without a time come last of all. The page starts after the answer generated $cursorTime with the
// urn
// $cursorUrn. $visible: the namespaces in which everything under the answer must lie, as regular
// expressions; null: any.
// access: read
// params: $urns LIST<STRING>, $cursorTime DATETIME, $cursorUrn STRING = "", $visible LIST<STRING> =
//   null, $limit
//   INTEGER = 20
// returns: urn, listed
// example: headwater cypher read/nodes/dataset_answers --param urns=dataset:file:/raw/planes
//   --param cursorTime=1970-01-01
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, COLLECT {
  MATCH ()-[e:CITED_BY]->(a:Answer)
  USING INDEX SEEK e:CITED_BY(dataset)
  WHERE e.dataset = d.urn
  WITH DISTINCT a, coalesce(a.generatedAt, datetime('9999-12-31T00:00:00Z')) AS at
  WHERE (at > $cursorTime OR (at = $cursorTime AND a.urn < $cursorUrn))
    AND ($visible IS NULL OR NOT EXISTS {
    (a)<-[:CITED_BY*1..20]-(v:Source|Artifact|Column)
      WHERE none(p IN $visible WHERE v.namespace =~ p)
  })
  RETURN {urn: a.urn, at: at} ORDER BY at, a.urn DESC LIMIT $limit
} AS listed
