// Return those of the given datasets that are models, each with True if one of its columns comes
// from a column of another dataset.
// access: read
// params: $urns LIST<STRING>
// returns: urn, hasColumnLineage
// example: headwater cypher read/models/with_label --param urns=dataset:mlflow:churn
UNWIND $urns AS urn
MATCH (m:Dataset {urn: urn})
USING INDEX m:Dataset(urn)
WHERE m:Model
RETURN urn, EXISTS { (m)-[:HAS_COLUMN]->(:Column)<-[:FEEDS]-(:Column) } AS hasColumnLineage
