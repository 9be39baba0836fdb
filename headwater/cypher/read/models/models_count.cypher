// Return the number of visible models; with $deprecatedOnly of those with a deprecated input, as
// read/models/models. This is a scan over the models.
// access: read
// params: $urns LIST<STRING> = null, $visible LIST<STRING> = null,
//   $deprecatedOnly BOOLEAN = false
// returns: count
// example: headwater cypher read/models/models_count
MATCH (m:Model)
WHERE m.droppedAt IS NULL AND m.deletedAt IS NULL
  AND ($urns IS NULL OR m.urn IN $urns)
  AND ($visible IS NULL OR any(p IN $visible WHERE m.namespace =~ p))
  AND (NOT $deprecatedOnly OR EXISTS {
    (m)-[:TRAINED_ON]->(d:Dataset)
    WHERE ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
      AND (d.deprecatedAt IS NOT NULL
        OR any(t IN d.tags WHERE toLower(split(t, '=')[0]) = 'deprecated'
        AND NOT toLower(coalesce(split(t, '=')[1], '')) IN ['false', 'no', 'none', '0']))
  })
RETURN count(m) AS count
