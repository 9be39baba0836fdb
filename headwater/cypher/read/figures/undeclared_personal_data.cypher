// Return the datasets with a column that takes values from a column with personal data, unmasked,
// while neither that column nor its dataset has the tag. Personal data is tagged with $tag: pii,
// pii=email, classification=pii; on the column, or on its dataset for all columns. This is a scan
// over all datasets for their tags.
// access: read
// params: $tag STRING = "pii", $visible LIST<STRING> = null, $limit INTEGER = 5000
// returns: urn
// example: headwater figures compliance-incidents
MATCH (d:Dataset)
WHERE d.tags IS NOT NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
WITH d, toLower($tag) AS tag, [t IN d.tags | toLower(t)] AS tags
MATCH (d)-[:HAS_COLUMN]->(c:Column)
WITH c, tag, [t IN tags WHERE NOT split(t, '=')[0] CONTAINS ':']
  + [t IN tags WHERE t STARTS WITH toLower(c.name) + ':' | substring(t, size(c.name) + 1)] AS words
WHERE any(w IN words WHERE w = tag OR w ENDS WITH '=' + tag
  OR (w STARTS WITH tag + '=' AND NOT split(w, '=')[1] IN ['false', 'no', 'none', '0']))
MATCH (c)-[f:FEEDS]->(to:Column)<-[:HAS_COLUMN]-(o:Dataset)
WHERE o.droppedAt IS NULL AND o.deletedAt IS NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE o.namespace =~ p))
  AND any(w IN f.transformations
    WHERE NOT w STARTS WITH 'INDIRECT' AND NOT toLower(w) ENDS WITH ':masked')
WITH DISTINCT o, to, tag, [t IN coalesce(o.tags, []) | toLower(t)] AS tags
WITH o, tag, [t IN tags WHERE NOT split(t, '=')[0] CONTAINS ':']
  + [t IN tags WHERE t STARTS WITH toLower(to.name) + ':' | substring(t, size(to.name) + 1)]
    AS words
WHERE none(w IN words WHERE w = tag OR w ENDS WITH '=' + tag OR w STARTS WITH tag + '=')
RETURN DISTINCT o.urn AS urn
ORDER BY urn
LIMIT $limit
