// Return the models, answers and exports that personal data reaches unmasked, with the column it
// comes from and the shortest path. The search starts at columns with a tag (pii, pii=email,
// classification=pii; on the column, or on its dataset for all columns). It follows column lineage
// over steps with a direct and unmasked transformation, at most 20. A model counts if a job trains
// it on a dataset that the values reach, an answer if it cites that dataset or the column. An
// export is a dataset of type EXPORT, REPORT or DASHBOARD, or with the tag export. The command
// `headwater personal-data` also knows classes, declassifications and jobs without columns. This is
// a scan over all datasets for their tags.
// access: read
// params: $tag STRING = "pii", $limit INTEGER = 1000
// returns: kind, urn, dataset, column, steps, path
// example: headwater cypher personal_data --param tag=pii
CYPHER statefulShortestPlanningMode=all_if_possible
MATCH (d:Dataset)
WHERE d.tags IS NOT NULL
WITH d, toLower($tag) AS tag, [t IN d.tags | toLower(t)] AS tags
MATCH (d)-[:HAS_COLUMN]->(c:Column)
WITH d, c, tag, [t IN tags WHERE NOT split(t, '=')[0] CONTAINS ':']
  + [t IN tags WHERE t STARTS WITH toLower(c.name) + ':' | substring(t, size(c.name) + 1)] AS words
WHERE any(w IN words WHERE w = tag OR w ENDS WITH '=' + tag
  OR (w STARTS WITH tag + '=' AND NOT split(w, '=')[1] IN ['false', 'no', 'none', '0']))
MATCH way = ANY SHORTEST (c)(()-[step:FEEDS WHERE any(w IN step.transformations
    WHERE NOT w STARTS WITH 'INDIRECT'
      AND NOT toLower(w) ENDS WITH ':masked')]->()){0,20}(at:Column)
MATCH (at)<-[:HAS_COLUMN]-(o:Dataset)
WHERE o.droppedAt IS NULL AND o.deletedAt IS NULL
CALL (at, o) {
  WITH o
  WHERE toLower(o.type) IN ['export', 'report', 'dashboard']
    OR any(t IN o.tags WHERE toLower(t) IN ['export', 'export=true', 'external-consumer'])
  RETURN 'EXPORT' AS kind, o.urn AS urn
  UNION
  MATCH (o)-[f:FEEDS]->(:Job)-[p:PRODUCED]->(m:Dataset)
  WHERE f.current AND p.current AND toLower(m.type) = 'model'
  RETURN 'MODEL' AS kind, m.urn AS urn
  UNION
  MATCH ()-[e:CITED_BY]->(a:Answer)
  USING INDEX SEEK e:CITED_BY(dataset)
  WHERE e.dataset = o.urn
  RETURN 'ANSWER' AS kind, a.urn AS urn
  UNION
  MATCH (at)-[:CITED_BY]->(a:Answer)
  RETURN 'ANSWER' AS kind, a.urn AS urn
}
WITH kind, urn, d, c, way ORDER BY length(way), c.urn
WITH kind, urn, d.urn AS source, collect({column: c.name, way: [n IN nodes(way) | n.urn]})[0] AS one
RETURN kind, urn, source AS dataset, one.column AS column, size(one.way) - 1 AS steps,
  one.way AS path
ORDER BY kind, urn, dataset
LIMIT $limit
