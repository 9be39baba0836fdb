// Datasets, jobs and answers by name: the full-text query is made by the program from what a user typed; nodes of
// exactly that name come first, then those that begin with it.
// access: read
// params: $query STRING, $text STRING, $limit INTEGER = 20
// returns: urn, label, score
// example: headwater cypher read/search --param query=planes* --param text=planes
CALL db.index.fulltext.queryNodes('names', $query, {limit: 1000}) YIELD node, score
WITH node, score, toLower(coalesce(node.name, node.answerId, '')) AS name, toLower($text) AS wanted
RETURN node.urn AS urn, head(labels(node)) AS label, score
ORDER BY CASE WHEN name = wanted THEN 0 WHEN name STARTS WITH wanted THEN 1 ELSE 2 END, score DESC, size(name), node.urn
LIMIT $limit
