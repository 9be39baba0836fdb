// Return a page of the visible models by urn, each with the datasets that it was trained on. With
// $deprecatedOnly only models that were trained on a dataset that a person deprecated, or that has
// a tag deprecated. This is a scan over the models.
// access: read
// params: $urns LIST<STRING> = null, $visible LIST<STRING> = null,
//   $deprecatedOnly BOOLEAN = false, $cursor STRING = "", $limit INTEGER = 20
// returns: urn, trainedOn, deprecated
// example: headwater models
MATCH (m:Model)
WHERE m.urn > $cursor AND m.droppedAt IS NULL AND m.deletedAt IS NULL
  AND ($urns IS NULL OR m.urn IN $urns)
  AND ($visible IS NULL OR any(p IN $visible WHERE m.namespace =~ p))
CALL (m) {
  OPTIONAL MATCH (m)-[:TRAINED_ON]->(d:Dataset)
  WHERE $visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p)
  WITH d ORDER BY d.urn
  RETURN collect(d.urn) AS trainedOn, collect(CASE
    WHEN d.deprecatedAt IS NOT NULL
      OR any(t IN d.tags WHERE toLower(split(t, '=')[0]) = 'deprecated'
      AND NOT toLower(coalesce(split(t, '=')[1], '')) IN ['false', 'no', 'none', '0'])
    THEN d.urn END) AS deprecated
}
WITH m, trainedOn, deprecated
WHERE NOT $deprecatedOnly OR deprecated <> []
RETURN m.urn AS urn, trainedOn, deprecated
ORDER BY urn
LIMIT $limit
