// Set which datasets models were trained on: the inputs of the jobs that write them now. An output
// with known derivations has only the inputs that it derives from. The models are those that the
// given jobs write, and the given datasets. A dataset that is no model keeps no such edge.
// access: write
// params: $jobs LIST<STRING>, $datasets LIST<STRING>
// returns: model, isModel, jobs
// example: run by the worker
CALL () {
  UNWIND $jobs AS urn
  MATCH (:Job {urn: urn})-[:PRODUCED]->(m:Model)
  RETURN m
  UNION
  UNWIND $datasets AS urn
  MATCH (m:Dataset {urn: urn})
  RETURN m
}
CALL (m) {
  MATCH (m:Model)<-[p:PRODUCED {current: true}]-(j:Job)<-[:FEEDS {current: true}]-(i:Dataset)
  WHERE i <> m
    AND ((p.explicit AND EXISTS {
        (m)-[r:DERIVED_FROM WHERE r.job = j.urn AND ('lineage' IN r.evidence OR r.declared)]->(i)
      })
      OR (p.explicit IS NULL AND (p.fromAllInputs OR NOT EXISTS { (m)-[r:DERIVED_FROM
        WHERE r.job = j.urn]->(:Dataset)-[:FEEDS]->(j) }
        OR EXISTS { (m)-[r:DERIVED_FROM WHERE r.job = j.urn]->(i) })))
  RETURN collect(DISTINCT i) AS inputs
}
CALL (m, inputs) {
  MATCH (m)-[e:TRAINED_ON]->(i)
  WHERE NOT i IN inputs
  DELETE e
}
CALL (m, inputs) {
  UNWIND inputs AS i
  MERGE (m)-[:TRAINED_ON]->(i)
}
RETURN m.urn AS model, m:Model AS isModel, [(m)<-[:PRODUCED]-(j:Job) | j.urn] AS jobs
