// Return the versions that kept the content of the given versions, over many appends: every link
// downstream of them, at most those from $nearest versions for each given one. A version keeps one
// other, so each version downstream has one path.
// access: read
// params: $urns LIST<STRING>, $nearest INTEGER = 2000, $limit INTEGER = 20000
// returns: source, target
// example: headwater cypher read/traversal/keeping_versions --param
//   urns=artifact:file:/marts/delay:RUN
UNWIND $urns AS urn
MATCH (v:Artifact {urn: urn})
CALL (v) {
  MATCH (v) (()-[:FEEDS]->(:Artifact))* (keeping:Artifact)
  WITH keeping LIMIT $nearest
  MATCH (keeping)-[:FEEDS]->(after:Artifact)
  RETURN keeping.urn AS source, after.urn AS target
}
RETURN DISTINCT source, target
LIMIT $limit
