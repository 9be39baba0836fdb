// Return every tag of a dataset, a column or a job, and every defined tag, with its description. A
// dataset has the tags of its columns as column:tag. This is a scan over datasets and jobs.
// $defined: whether to list defined tags that no visible node has.
// access: read
// params: $visible LIST<STRING>, $defined BOOLEAN = true, $skip INTEGER = 0, $limit INTEGER = 100
// returns: tag, description
// example: headwater cypher read/catalog/tags --param visible=null
CALL () {
  MATCH (n:Dataset)
  WHERE n.tags IS NOT NULL AND n.deletedAt IS NULL
    AND ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
  UNWIND n.tags AS text
  WITH text, reduce(longest = 0, c IN coalesce(n.columns, []) |
    CASE WHEN text STARTS WITH c + ':' AND size(c) >= longest THEN size(c) + 1
      ELSE longest END) AS cut
  RETURN substring(text, cut) AS tag
  UNION
  MATCH (n:Job)
  WHERE n.tags IS NOT NULL AND n.deletedAt IS NULL
    AND ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
  UNWIND n.tags AS tag
  RETURN tag
  UNION
  MATCH (t:Tag) WHERE $defined AND t.defined
  RETURN t.name AS tag
}
WITH tag ORDER BY tag SKIP $skip LIMIT $limit
OPTIONAL MATCH (t:Tag {name: tag}) WHERE t.defined
RETURN tag, t.description AS description
ORDER BY tag
