// Delete runs. A version they wrote stays if a remaining run reads it, marked as `rolledUp` and
// with its origin datasets. Returns these versions and those the runs read: unused ones can be
// deleted.
// access: write
// params: $urns LIST<STRING>
// returns: versions
// example: run by `headwater pipeline rollup`
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
CALL (r) {
  MATCH (r)-[:PRODUCED]->(a:Artifact)
  WITH r, a, COLLECT {
    UNWIND [(a)-[:DERIVED_FROM]->(v) | v.dataset] + coalesce(a.derivedFrom, []) AS dataset
    RETURN DISTINCT dataset ORDER BY dataset
  } AS datasets
  SET a.rolledUp = true, a.derivedFrom = CASE WHEN datasets <> [] THEN datasets END,
    a.status = null, a.startedAt = coalesce(a.startedAt, r.startedAt)
  RETURN collect(a.urn) AS made
}
WITH r, [(v:Source|Artifact)-[:FEEDS]->(r) | v.urn] + made AS touched
DETACH DELETE r
WITH touched
UNWIND touched AS version
RETURN collect(DISTINCT version) AS versions
