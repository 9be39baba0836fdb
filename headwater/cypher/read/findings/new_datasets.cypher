// Count the datasets of the given namespaces that were first seen on each day since an instant,
// with the first names of each day, and return when the first dataset of the namespace was seen.
// This reads all datasets of these namespaces.
// access: read
// params: $namespaces LIST<STRING>, $since DATETIME, $names INTEGER = 50
// returns: namespace, knownSince, days
// example: headwater cypher read/findings/new_datasets --param namespaces=file --param
//   since=2026-01-01T00:00:00Z
UNWIND $namespaces AS namespace
RETURN namespace, COLLECT {
  MATCH (n:Dataset)
  USING INDEX SEEK n:Dataset(namespace, name)
  WHERE n.namespace = namespace AND n.name IS NOT NULL AND n.firstSeen IS NOT NULL
  RETURN min(n.firstSeen)
}[0] AS knownSince, COLLECT {
  MATCH (n:Dataset)
  USING INDEX SEEK n:Dataset(namespace, name)
  WHERE n.namespace = namespace AND n.name IS NOT NULL AND n.firstSeen >= $since
  WITH date(datetime({datetime: n.firstSeen, timezone: 'Z'})) AS day, n ORDER BY day, n.name
  WITH day, count(n) AS created, min(n.firstSeen) AS first, max(n.firstSeen) AS last,
    collect(n.name)[..$names] AS names
  RETURN {day: day, count: created, first: first, last: last, names: names} ORDER BY day
} AS days
