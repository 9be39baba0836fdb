// Return the newest complete versions of a model, newest first, with the fields of their schemas,
// the runs that made them, and what these runs read.
// access: read
// params: $urn STRING, $versions LIST<STRING> = null, $limit INTEGER = 20
// returns: urn, version, createdAt, fields, run, codeVersion, codeHash, inputs
// example: headwater model versions churn
MATCH (v:Artifact {dataset: $urn, complete: true})
WHERE v.createdAt IS NOT NULL
  AND ($versions IS NULL OR v.urn IN $versions OR v.version IN $versions)
WITH v
ORDER BY v.createdAt DESC, v.urn
LIMIT $limit
OPTIONAL MATCH (r:PipelineRun)-[:PRODUCED]->(v)
RETURN v.urn AS urn, v.version AS version, v.createdAt AS createdAt,
  head([(v)-[:HAS_SCHEMA]->(s:SchemaVersion) | s.fields]) AS fields, r.urn AS run,
  r.version AS codeVersion, r.codeHash AS codeHash,
  COLLECT {
    MATCH (i:Source|Artifact)-[:FEEDS]->(r)
    RETURN [i.urn, i.dataset, i.version] ORDER BY i.urn LIMIT 1000
  } AS inputs
ORDER BY createdAt DESC, urn
