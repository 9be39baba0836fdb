// Return the nodes of one label whose urns lie after $after and up to $upto, with the requested
// properties in their order. `cameFrom` lists the datasets of the versions from which a version
// derives. `began` is the start of the run that wrote it. The conditions are given by property:
// equal to one of some values, at least, below, or present.
// access: read
// params: $label STRING, $after STRING, $upto STRING, $columns LIST<STRING>, $equal MAP, $least
//   MAP, $below MAP, $present LIST<STRING>
// returns: values, cameFrom, began
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
WITH n, CASE WHEN label = 'PipelineRun' THEN {attempts: 1, lastSeen: n.finishedAt}
  ELSE {} END AS derived
WHERE all(k IN keys($equal) WHERE coalesce(n[k], derived[k]) IN $equal[k])
  AND all(k IN keys($least) WHERE coalesce(n[k], derived[k]) >= $least[k])
  AND all(k IN keys($below) WHERE coalesce(n[k], derived[k]) < $below[k])
  AND all(k IN $present WHERE coalesce(n[k], derived[k]) IS NOT NULL)
RETURN [k IN $columns | n[k]] AS values,
  CASE WHEN 'derivedFrom' IN $columns THEN [(n)-[:DERIVED_FROM]->(v) | v.dataset]
    ELSE [] END AS cameFrom,
  CASE WHEN n:Artifact AND 'startedAt' IN $columns
    THEN [(n)<-[:PRODUCED]-(r:PipelineRun) | r.startedAt][0] END AS began
