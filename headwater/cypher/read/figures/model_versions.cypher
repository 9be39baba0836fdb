// Return the newest versions of models: complete versions that a run wrote to a dataset of type
// MODEL, or that were registered as a model. This is a scan over all datasets for their type.
// access: read
// params: $visible LIST<STRING> = null, $limit INTEGER = 20
// returns: urn, dataset, version, createdAt
// example: headwater figures model-completeness
MATCH (d:Dataset)
WHERE ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
WITH d, toLower(coalesce(d.type, '')) = 'model' AS isModel
CALL (d, isModel) {
  MATCH (v:Artifact)
  USING INDEX SEEK v:Artifact(dataset, complete, createdAt)
  WHERE v.dataset = d.urn AND v.complete = true AND v.createdAt IS NOT NULL
    AND (isModel OR toLower(coalesce(v.type, '')) = 'model')
  RETURN v ORDER BY v.dataset DESC, v.complete DESC, v.createdAt DESC LIMIT $limit
}
RETURN v.urn AS urn, v.dataset AS dataset, coalesce(v.version, v.runId) AS version,
  v.createdAt AS createdAt
ORDER BY createdAt DESC, urn
LIMIT $limit
