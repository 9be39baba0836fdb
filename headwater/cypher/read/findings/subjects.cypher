// Return what the severity of a finding needs of the given nodes: owners, tags, type, and the
// namespaces that decide who may see them. An answer has the namespaces of everything it rests on.
// access: read
// params: $urns LIST<STRING>
// returns: urn, owners, tags, type, namespaces
// example: headwater cypher read/findings/subjects --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
CALL (urn) {
  MATCH (n:Dataset {urn: urn})
  RETURN n.owners AS owners, n.tags AS tags, coalesce(n.type, '') AS type,
    [n.namespace] AS namespaces
  UNION ALL
  MATCH (n:Job {urn: urn})
  RETURN n.owners AS owners, n.tags AS tags, '' AS type, [n.namespace] AS namespaces
  UNION ALL
  MATCH (n:Answer {urn: urn})
  RETURN n.owners AS owners, null AS tags, '' AS type,
    COLLECT {
      MATCH (n)<-[:CITED_BY*1..20]-(v:Source|Artifact|Column) RETURN DISTINCT v.namespace
    } AS namespaces
}
RETURN urn, coalesce(owners, []) AS owners, coalesce(tags, []) AS tags, type, namespaces
