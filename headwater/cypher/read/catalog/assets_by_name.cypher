// Return the datasets and jobs with one of the given names, in any namespace. `described` is false
// for a dataset that events only refer to.
// access: read
// params: $names LIST<STRING>, $visible LIST<STRING>, $limit INTEGER = 20
// returns: name, urn, namespace, described
// example: headwater cypher read/catalog/assets_by_name --param names=planes --param visible=null
UNWIND $names AS name
CALL (name) {
  CALL (name) {
    MATCH (n:Dataset {name: name}) RETURN n
    UNION ALL
    MATCH (n:Job {name: name}) RETURN n
  }
  WITH n
  WHERE $visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p)
  RETURN n ORDER BY n.urn LIMIT $limit
}
RETURN name, n.urn AS urn, n.namespace AS namespace, n.firstSeen IS NOT NULL AS described
