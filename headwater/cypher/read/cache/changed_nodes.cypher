// Return the datasets, jobs and aliases whose edges or displayed properties changed after a
// revision of the graph.
// access: read
// params: $after INTEGER
// returns: urn
// example: headwater cypher read/cache/changed_nodes --param after=1000
CALL () {
  MATCH (n:Dataset) WHERE n.lineageRevision > $after RETURN n.urn AS urn
  UNION ALL
  MATCH (n:Job) WHERE n.lineageRevision > $after RETURN n.urn AS urn
  UNION ALL
  MATCH (n:Symlink) WHERE n.lineageRevision > $after RETURN n.urn AS urn
}
RETURN urn
