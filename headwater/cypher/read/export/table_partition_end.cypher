// Return the last urn of a table partition: the urn after $skip others among the nodes of one label
// between two urns. The next urn is returned too if there is one, and so announces another
// partition.
// access: read
// params: $label STRING, $after STRING, $upto STRING, $skip INTEGER
// returns: urn
// example: run by spark.read.format("headwater")
WITH $label AS label
CALL (label) {
  WITH label WHERE label = 'Answer'
  MATCH (n:Answer) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n.urn AS urn ORDER BY urn SKIP $skip LIMIT 2
  UNION ALL
  WITH label WHERE label = 'Artifact'
  MATCH (n:Artifact) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n.urn AS urn ORDER BY urn SKIP $skip LIMIT 2
  UNION ALL
  WITH label WHERE label = 'Column'
  MATCH (n:Column) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n.urn AS urn ORDER BY urn SKIP $skip LIMIT 2
  UNION ALL
  WITH label WHERE label = 'Dataset'
  MATCH (n:Dataset) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n.urn AS urn ORDER BY urn SKIP $skip LIMIT 2
  UNION ALL
  WITH label WHERE label = 'Job'
  MATCH (n:Job) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n.urn AS urn ORDER BY urn SKIP $skip LIMIT 2
  UNION ALL
  WITH label WHERE label = 'PipelineRun'
  MATCH (n:PipelineRun) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n.urn AS urn ORDER BY urn SKIP $skip LIMIT 2
  UNION ALL
  WITH label WHERE label = 'RunSummary'
  MATCH (n:RunSummary) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n.urn AS urn ORDER BY urn SKIP $skip LIMIT 2
  UNION ALL
  WITH label WHERE label = 'SchemaVersion'
  MATCH (n:SchemaVersion) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n.urn AS urn ORDER BY urn SKIP $skip LIMIT 2
  UNION ALL
  WITH label WHERE label = 'Source'
  MATCH (n:Source) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n.urn AS urn ORDER BY urn SKIP $skip LIMIT 2
  UNION ALL
  WITH label WHERE label = 'Symlink'
  MATCH (n:Symlink) WHERE n.urn > $after AND n.urn <= $upto
  RETURN n.urn AS urn ORDER BY urn SKIP $skip LIMIT 2
}
RETURN urn
