// Return what changed between two versions of a model, by default the newest two complete ones:
// features and their types, training data and its versions, and the code. A version is given by its
// urn or by its producer's name. Parameters and metrics are in `headwater model diff`.
// access: read
// params: $model STRING, $namespace STRING = "", $before STRING = "", $after STRING = ""
// returns: namespace, model, part, name, before, after
// example: headwater cypher model_version_changes --param model=churn
MATCH (m:Model {name: $model})
WHERE $namespace = '' OR m.namespace = $namespace
CALL (m) {
  MATCH (v:Artifact {dataset: m.urn, complete: true})
  WHERE v.createdAt IS NOT NULL AND ($after = '' OR $after IN [v.urn, v.version])
  RETURN v AS new ORDER BY v.createdAt DESC, v.urn LIMIT 1
}
CALL (m, new) {
  MATCH (v:Artifact {dataset: m.urn, complete: true})
  WHERE v.createdAt IS NOT NULL AND v <> new
    AND CASE WHEN $before = '' THEN v.createdAt <= new.createdAt
      ELSE $before IN [v.urn, v.version] END
  RETURN v AS old ORDER BY v.createdAt DESC, v.urn LIMIT 1
}
CALL (old, new) {
  UNWIND [{isNew: false, version: old}, {isNew: true, version: new}] AS one
  WITH one.isNew AS isNew, one.version AS v
  MATCH (v)-[:HAS_SCHEMA]->(s:SchemaVersion)
  WITH isNew, s.columns AS columns,
    split(substring(s.fields, 2, size(s.fields) - 4), '],[') AS pairs
  UNWIND range(0, size(columns) - 1) AS i
  RETURN isNew, 'FEATURE' AS part, columns[i] AS name, CASE WHEN size(pairs) = size(columns)
    AND NOT pairs[i] ENDS WITH ',null'
    THEN replace(split(pairs[i], ',"')[-1], '"', '') ELSE '' END AS value
  UNION ALL
  UNWIND [{isNew: false, version: old}, {isNew: true, version: new}] AS one
  WITH one.isNew AS isNew, one.version AS v
  MATCH (i:Source|Artifact)-[:FEEDS]->(:PipelineRun)-[:PRODUCED]->(v)
  WITH isNew, i ORDER BY i.urn
  RETURN isNew, 'DATA' AS part, i.dataset AS name,
    head(collect(coalesce(i.version, i.urn))) AS value
  UNION ALL
  UNWIND [{isNew: false, version: old}, {isNew: true, version: new}] AS one
  WITH one.isNew AS isNew, one.version AS v
  MATCH (r:PipelineRun)-[:PRODUCED]->(v)
  WHERE r.version IS NOT NULL OR r.codeHash IS NOT NULL
  RETURN isNew, 'CODE' AS part, 'code' AS name,
    head(collect(coalesce(r.version, r.codeHash))) AS value
}
WITH m, part, name, head(collect(CASE WHEN NOT isNew THEN value END)) AS before,
  head(collect(CASE WHEN isNew THEN value END)) AS after
WHERE before IS NULL OR after IS NULL OR before <> after
RETURN m.namespace AS namespace, m.name AS model, part, name, before, after
ORDER BY namespace, model, part, name
