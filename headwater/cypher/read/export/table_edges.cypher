// Return the outgoing edges of the nodes of one label whose urns lie after $after and up to $upto.
// Each edge comes with the requested properties in their order, or with all properties if $whole is
// true. `targetProperties` holds the properties that its target node stores for it. A null in
// $types selects edges of any type.
// access: read
// params: $label STRING, $after STRING, $upto STRING, $types LIST<STRING>, $columns LIST<STRING>,
//   $whole BOOLEAN, $equal MAP, $least MAP, $below MAP, $present LIST<STRING>
// returns: source, type, target, label, values, properties, targetProperties
// example: run by spark.read.format("headwater")
WITH $label AS label
CALL (label) {
  WITH label WHERE label = 'Answer'
  MATCH (n:Answer) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n
  UNION ALL
  WITH label WHERE label = 'Artifact'
  MATCH (n:Artifact) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n
  UNION ALL
  WITH label WHERE label = 'Column'
  MATCH (n:Column) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n
  UNION ALL
  WITH label WHERE label = 'Dataset'
  MATCH (n:Dataset) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n
  UNION ALL
  WITH label WHERE label = 'Job'
  MATCH (n:Job) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n
  UNION ALL
  WITH label WHERE label = 'PipelineRun'
  MATCH (n:PipelineRun) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n
  UNION ALL
  WITH label WHERE label = 'RunSummary'
  MATCH (n:RunSummary) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n
  UNION ALL
  WITH label WHERE label = 'SchemaVersion'
  MATCH (n:SchemaVersion) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n
  UNION ALL
  WITH label WHERE label = 'Source'
  MATCH (n:Source) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n
  UNION ALL
  WITH label WHERE label = 'Symlink'
  MATCH (n:Symlink) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n
}
MATCH (n)-[e]->(m)
WHERE $types IS NULL OR type(e) IN $types
WITH n, e, m, CASE WHEN type(e) = 'PRODUCED' THEN m {.rowCount, .bytes}
  ELSE {} END AS targetProperties
WHERE all(k IN keys($equal) WHERE coalesce(e[k], targetProperties[k]) IN $equal[k])
  AND all(k IN keys($least) WHERE coalesce(e[k], targetProperties[k]) >= $least[k])
  AND all(k IN keys($below) WHERE coalesce(e[k], targetProperties[k]) < $below[k])
  AND all(k IN $present WHERE coalesce(e[k], targetProperties[k]) IS NOT NULL)
RETURN n.urn AS source, type(e) AS type, m.urn AS target,
  CASE WHEN m:Dataset THEN 'Dataset' ELSE labels(m)[0] END AS label,
  [k IN $columns | coalesce(e[k], targetProperties[k])] AS values,
    CASE WHEN $whole THEN properties(e) END AS properties,
  CASE WHEN $whole THEN targetProperties END AS targetProperties
