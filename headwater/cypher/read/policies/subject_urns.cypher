// Return a page of the nodes of one kind that policies are evaluated on, in the order of their
// urns. Dropped and deleted ones are left out, unless that was after $at. $visible: regular
// expressions of namespaces; null: any. Answers are not filtered by it.
// access: read
// params: $kind STRING, $after STRING = "", $at DATETIME = null, $visible LIST<STRING> = null,
//   $limit INTEGER = 1000
// returns: urn
// example: headwater cypher read/policies/subject_urns --param kind=dataset
CALL () {
  MATCH (n:Dataset) WHERE $kind = 'dataset' AND n.urn > $after
    AND (n.droppedAt IS NULL OR n.droppedAt > $at) AND (n.deletedAt IS NULL OR n.deletedAt > $at)
    AND ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
  RETURN n.urn AS urn ORDER BY n.urn LIMIT $limit
  UNION
  MATCH (n:Job) WHERE $kind = 'job' AND n.urn > $after
    AND (n.deletedAt IS NULL OR n.deletedAt > $at)
    AND ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
  RETURN n.urn AS urn ORDER BY n.urn LIMIT $limit
  UNION
  MATCH (n:Answer) WHERE $kind = 'answer' AND n.urn > $after
  RETURN n.urn AS urn ORDER BY n.urn LIMIT $limit
}
RETURN urn ORDER BY urn LIMIT $limit
