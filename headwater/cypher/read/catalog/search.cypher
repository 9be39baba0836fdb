// Search datasets, jobs and answers by words in their names, descriptions, columns, tags and
// owners, best match first. $query is in the syntax of Lucene, $text is the raw text. Lucene
// computes the score over the whole index, so it is 0.0 for callers with restricted visibility.
// access: read
// params: $query STRING, $text STRING, $visible LIST<STRING> = null, $limit INTEGER = 20
// returns: urn, label, namespace, name, tags, owners, rank, score, deprecated
// example: headwater cypher read/catalog/search --param query=planes* --param text=planes
CALL db.index.fulltext.queryNodes('words', $query) YIELD node, score AS fits
WITH node, CASE WHEN $visible IS NULL THEN fits ELSE 0.0 END AS score,
  toLower(coalesce(node.name, node.answerId, '')) AS name, toLower($text) AS wanted
WHERE node.deletedAt IS NULL AND ($visible IS NULL
  OR any(p IN $visible WHERE node.namespace =~ p) OR (node:Answer AND NOT EXISTS {
  (node)<-[:CITED_BY*1..20]-(v:Source|Artifact|Column)
    WHERE none(p IN $visible WHERE v.namespace =~ p)
}))
WITH node, score, CASE WHEN name = wanted THEN 1 WHEN name STARTS
  WITH wanted THEN 2 ELSE 3 END AS rank
ORDER BY rank, score DESC, node.urn
LIMIT $limit
RETURN node.urn AS urn, CASE WHEN node:Dataset THEN 'Dataset' ELSE head(labels(node)) END AS label,
  node.namespace AS namespace,
  coalesce(node.name, node.answerId, node.urn) AS name, node.tags AS tags, node.owners AS owners,
    rank, score, node.deprecatedAt IS NOT NULL AS deprecated
