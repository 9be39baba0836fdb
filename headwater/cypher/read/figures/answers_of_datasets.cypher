// Return the answers that cite a version of each of the given datasets.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 1000
// returns: dataset, answers
// example: headwater figures top-datasets
UNWIND $urns AS urn
RETURN urn AS dataset, COLLECT {
  MATCH ()-[e:CITED_BY]->(a:Answer)
  USING INDEX SEEK e:CITED_BY(dataset)
  WHERE e.dataset = urn
  RETURN DISTINCT a.urn LIMIT $limit
} AS answers
