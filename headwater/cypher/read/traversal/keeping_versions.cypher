// Return the versions that kept the content of the given versions, over many appends: every link
// downstream of them.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: source, target
// example: headwater cypher read/traversal/keeping_versions --param
//   urns=artifact:file:/marts/delay:RUN
UNWIND $urns AS urn
MATCH (v:Artifact {urn: urn}) (()-[:FEEDS]->(:Artifact))+ (after:Artifact)
WITH DISTINCT after
MATCH (before:Artifact)-[:FEEDS]->(after)
RETURN before.urn AS source, after.urn AS target
LIMIT $limit
