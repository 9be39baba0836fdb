// Return the datasets whose age matters to a node: those that a job reads, a dataset itself, and
// those that an answer cites.
// access: read
// params: $urn STRING, $limit INTEGER = 5
// returns: urn
// example: run by `headwater detect`
CALL () {
  MATCH (d:Dataset)-[e:FEEDS]->(:Job {urn: $urn}) WHERE e.current
  RETURN d.urn AS urn
  UNION
  MATCH (d:Dataset {urn: $urn})
  RETURN d.urn AS urn
  UNION
  MATCH (:Answer {urn: $urn})<-[c:CITED_BY]-(:Source|Artifact)
  RETURN c.dataset AS urn
}
WITH urn WHERE urn IS NOT NULL
RETURN DISTINCT urn ORDER BY urn LIMIT $limit
