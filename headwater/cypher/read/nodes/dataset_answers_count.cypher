// Count the answers that cite any version of the given datasets. $visible: the namespaces in which
// everything under the answer must lie, as regular expressions; null: any.
// access: read
// params: $urns LIST<STRING>, $visible LIST<STRING> = null
// returns: urn, count
// example: headwater cypher read/nodes/dataset_answers_count --param
//   urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, COUNT {
  MATCH ()-[e:CITED_BY]->(a:Answer)
  USING INDEX SEEK e:CITED_BY(dataset)
  WHERE e.dataset = d.urn AND ($visible IS NULL OR NOT EXISTS {
    (a)<-[:CITED_BY*1..20]-(v:Source|Artifact|Column)
      WHERE none(p IN $visible WHERE v.namespace =~ p)
  })
  RETURN DISTINCT a
} AS count
