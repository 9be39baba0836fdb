// Return the versions whose content the given versions kept, over many appends: every link upstream
// of them, at most the nearest $nearest of each version. Only versions lead to a version by FEEDS.
// Neo4j plans DISTINCT over such a path as a pruning breadth-first search: nearest versions first.
// access: read
// params: $urns LIST<STRING>, $nearest INTEGER = 2000, $limit INTEGER = 20000
// returns: source, target
// example: headwater cypher read/traversal/kept_versions --param
//   urns=artifact:file:/marts/delay:RUN
UNWIND $urns AS urn
MATCH (v:Artifact {urn: urn})
CALL (v) {
  MATCH (v)<-[:FEEDS*0..]-(kept:Artifact)
  WITH DISTINCT kept LIMIT $nearest
  MATCH (kept)<-[:FEEDS]-(before:Artifact)
  RETURN before.urn AS source, kept.urn AS target
}
RETURN DISTINCT source, target
LIMIT $limit
