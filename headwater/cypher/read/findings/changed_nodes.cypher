// Return the datasets, jobs and answers whose facts, edges or displayed properties changed after a
// revision of the graph. An alias stands for its dataset, and for itself.
// access: read
// params: $after INTEGER
// returns: urn, revision
// example: headwater cypher read/findings/changed_nodes --param after=1000
CALL () {
  MATCH (n:Dataset) WHERE n.lineageRevision > $after RETURN n.urn AS urn, n.lineageRevision AS at
  UNION ALL
  MATCH (n:Dataset) WHERE n.factsRevision > $after RETURN n.urn AS urn, n.factsRevision AS at
  UNION ALL
  MATCH (n:Job) WHERE n.lineageRevision > $after RETURN n.urn AS urn, n.lineageRevision AS at
  UNION ALL
  MATCH (n:Job) WHERE n.factsRevision > $after RETURN n.urn AS urn, n.factsRevision AS at
  UNION ALL
  MATCH (n:Answer) WHERE n.factsRevision > $after RETURN n.urn AS urn, n.factsRevision AS at
  UNION ALL
  MATCH (n:Symlink) WHERE n.lineageRevision > $after
  RETURN n.urn AS urn, n.lineageRevision AS at
  UNION ALL
  MATCH (n:Symlink)-[:SYMLINK_OF]->(d:Dataset) WHERE n.lineageRevision > $after
  RETURN d.urn AS urn, n.lineageRevision AS at
}
RETURN urn, max(at) AS revision
