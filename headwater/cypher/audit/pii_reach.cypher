// Where personal data gets to without being masked: from the columns tagged with a word (pii, pii=email,
// classification=pii; on the column, or on its dataset for all of them) along column lineage, as long as not every
// way of a step is masked. Ways are only ever added, so a step that was masked later is still told. With indirect also
// where a column only decided which rows there are (a filter, a join). Where no column is named, a job made that
// dataset and tells nothing of its columns: what reached it is not known. At most 20 steps. This is a scan over all
// datasets for their tags.
// access: read
// params: $tag STRING = "pii", $indirect BOOLEAN = false, $limit INTEGER = 1000
// returns: dataset, column, steps, reachedDataset, reachedColumn, job, ways
// example: headwater cypher pii_reach --param tag=pii
CYPHER statefulShortestPlanningMode=all_if_possible
MATCH (d:Dataset)
WHERE d.tags IS NOT NULL
WITH d, toLower($tag) AS tag, [t IN d.tags | toLower(t)] AS tags
MATCH (d)-[:HAS_COLUMN]->(c:Column)
WITH d, c, tag, [t IN tags WHERE NOT split(t, '=')[0] CONTAINS ':']
  + [t IN tags WHERE t STARTS WITH toLower(c.name) + ':' | substring(t, size(c.name) + 1)] AS words
WHERE any(w IN words WHERE w = tag OR w ENDS WITH '=' + tag
  OR (w STARTS WITH tag + '=' AND NOT split(w, '=')[1] IN ['false', 'no', 'none', '0']))
MATCH way = ANY SHORTEST (c)(()-[step:FEEDS WHERE any(w IN step.ways
    WHERE ($indirect OR NOT w STARTS WITH 'INDIRECT') AND NOT toLower(w) ENDS WITH ':masked')]->()){0,20}(at)
CALL (d, c, at, step) {
  WITH at, step WHERE size(step) > 0
  RETURN at.namespace + ' ' + coalesce(at.dataset, at.name) AS reachedDataset,
    CASE WHEN at:Column THEN at.name ELSE '*' END AS reachedColumn, size(step) AS steps, step[-1].job AS job,
    step[-1].ways AS ways
  UNION ALL
  MATCH (at)<-[:HAS_COLUMN]-(i:Dataset)-[:FEEDS {current: true}]->(j:Job)-[p:PRODUCED {current: true}]->(o:Dataset)
  WHERE i <> o AND NOT EXISTS { (i)-[:HAS_COLUMN]->(:Column)-[f:FEEDS WHERE f.job = j.urn]->()<-[:HAS_COLUMN]-(o) }
    AND ((p.explicit AND EXISTS {
        (o)-[r:DERIVED_FROM WHERE r.job = j.urn AND ('lineage' IN r.ways OR r.declared)]->(i)
      })
      OR (p.explicit IS NULL AND (NOT EXISTS { (o)-[r:DERIVED_FROM WHERE r.job = j.urn]->(:Dataset)-[:FEEDS]->(j) }
        OR EXISTS { (o)-[r:DERIVED_FROM WHERE r.job = j.urn]->(i) })))
  RETURN o.namespace + ' ' + o.name AS reachedDataset, null AS reachedColumn, size(step) + 1 AS steps, j.urn AS job,
    null AS ways
}
RETURN d.namespace + ' ' + d.name AS dataset, c.name AS column, steps, reachedDataset, reachedColumn, job, ways
ORDER BY dataset, column, steps, reachedDataset, reachedColumn, job
LIMIT $limit
