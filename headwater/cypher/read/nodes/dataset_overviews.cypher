// Return what a picture of the lineage graph shows of the given datasets: owners, tags, type, the
// number of columns, the newest complete version by an instant, and the newest unfinished or failed
// version after it. `producers` are the jobs that currently write it; `upstream` and `downstream`
// are the neighbours by current edges. `captured` is the time of its newest capture.
// $visible: the namespaces of producers and neighbours, as regular expressions; null: any.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $visible LIST<STRING> = null,
//   $limit INTEGER = 1000
// returns: urn, owners, tags, type, columns, newest, left, captured, producers, upstream,
//   downstream
// example: headwater cypher read/nodes/dataset_overviews --param urns=dataset:file:/raw/planes
//   --param at=9999-12-31
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
WITH urn, d, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = urn AND a.complete = true AND a.createdAt <= $at
  RETURN a ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC, a.urn DESC LIMIT 1
}[0] AS newest
RETURN urn, d.owners AS owners, d.tags AS tags, coalesce(d.subType, d.type) AS type,
  size(coalesce(d.columns, [])) AS columns, newest {.urn, .createdAt, .rowCount} AS newest,
  COLLECT {
    MATCH (a:Artifact)
    USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
    WHERE a.dataset = urn AND a.complete = false AND a.createdAt <= $at
      AND a.createdAt > coalesce(newest.createdAt, datetime({year: 1}))
    RETURN a {.urn, .createdAt, .status, .rowCount, .runId}
    ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC, a.urn DESC LIMIT 1
  }[0] AS left, COLLECT {
    MATCH (s:Source)
    USING INDEX SEEK s:Source(dataset)
    WHERE s.dataset = urn AND coalesce(s.capturedAt, $at) <= $at
    RETURN s.capturedAt ORDER BY s.capturedAt DESC LIMIT 1
  }[0] AS captured,
  COLLECT { MATCH (j:Job)-[e:PRODUCED]->(d) WHERE e.current AND ($visible IS NULL
      OR any(p IN $visible WHERE j.namespace =~ p))
    RETURN DISTINCT j.urn ORDER BY j.urn LIMIT $limit } AS producers,
  COLLECT { MATCH (n:Dataset|Job)-[e:PRODUCED|FEEDS]->(d) WHERE e.current AND ($visible IS NULL
      OR any(p IN $visible WHERE n.namespace =~ p))
    RETURN DISTINCT n.urn ORDER BY n.urn LIMIT $limit } AS upstream,
  COLLECT { MATCH (d)-[e:FEEDS]->(n:Dataset|Job) WHERE e.current AND ($visible IS NULL
      OR any(p IN $visible WHERE n.namespace =~ p))
    RETURN DISTINCT n.urn ORDER BY n.urn LIMIT $limit } AS downstream
