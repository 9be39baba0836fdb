// Return those of the given nodes that are datasets or answers, with what makes a dataset a model
// or an export, and the time of the first event that names the node.
// access: read
// params: $urns LIST<STRING>
// returns: urn, type, tags, since
// example: headwater cypher read/personal_data/artifacts --param urns=dataset:mlflow:churn
UNWIND $urns AS urn
CALL (urn) {
  MATCH (n:Dataset {urn: urn})
  WHERE n.type IS NOT NULL OR n.tags IS NOT NULL
  RETURN n.type AS type, n.tags AS tags, n.firstSeen AS since
  UNION ALL
  MATCH (n:Answer {urn: urn})
  RETURN null AS type, null AS tags, n.generatedAt AS since
}
RETURN urn, type, tags, since
