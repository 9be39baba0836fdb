// Return the answers that cite the given datasets: a version of one, or a column.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 200
// returns: urn, citations
// example: headwater cypher read/findings/dataset_citations --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, COLLECT {
  CALL (urn, d) {
    MATCH ()-[e:CITED_BY]->(a:Answer)
    USING INDEX SEEK e:CITED_BY(dataset)
    WHERE e.dataset = urn
    RETURN DISTINCT a, '' AS column
    UNION
    MATCH (d)-[:HAS_COLUMN]->(c:Column)-[:CITED_BY]->(a:Answer)
    RETURN DISTINCT a, c.name AS column
  }
  RETURN {answer: a.urn, column: column, at: a.generatedAt}
  ORDER BY a.generatedAt DESC, a.urn, column LIMIT $limit
} AS citations
