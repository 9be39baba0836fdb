// Return what leads on from the given datasets: column edges, the jobs that read them with the
// outputs of each, links without a job, and citations. `columns` are the columns of the schema,
// null without one. `stale` are jobs whose edge from the dataset is not current, alone or with an
// output whose edge is not. An output that does not derive from the dataset is left out, as in
// read/cache/jobs.
// access: read
// params: $urns LIST<STRING>
// returns: urn, type, tags, approvals, isGone, columns, edges, crossings, stale, feeds, citations
// example: headwater personal-data
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, d.type AS type, d.tags AS tags, d.approvals AS approvals,
  d.droppedAt IS NOT NULL OR d.deletedAt IS NOT NULL AS isGone, d.columns AS columns,
  COLLECT {
    MATCH (d)-[:HAS_COLUMN]->(c:Column)-[e:FEEDS]->(t:Column|Dataset)
    RETURN [c.urn, t.urn, e.job, e.transformations,
      CASE WHEN t.urn STARTS WITH 'column:#'
        THEN head([(t)<-[:HAS_COLUMN]-(o:Dataset) | o.urn]) END]
  } AS edges,
  COLLECT {
    MATCH (d)-[f:FEEDS]->(j:Job)-[p:PRODUCED]->(o:Dataset)
    WHERE f.current AND p.current AND o <> d
      AND CASE WHEN p.explicit
        THEN EXISTS { (o)-[r:DERIVED_FROM {job: j.urn}]->(d)
          WHERE 'lineage' IN r.evidence OR r.declared }
        WHEN p.fromAllInputs THEN true
        ELSE EXISTS { (o)-[:DERIVED_FROM {job: j.urn}]->(d) }
          OR NOT EXISTS {
            (o)-[:DERIVED_FROM {job: j.urn}]->(:Dataset)-[:FEEDS {current: true}]->(j)
          }
      END
    RETURN [j.urn, o.urn, EXISTS { (o)-[:HAS_COLUMN]->(:Column)<-[e:FEEDS]-(:Column)
        WHERE e.job = j.urn } OR EXISTS { (o)<-[e:FEEDS]-(:Column) WHERE e.job = j.urn }]
  } AS crossings,
  COLLECT {
    MATCH (d)-[f:FEEDS]->(j:Job) WHERE NOT f.current RETURN [j.urn, null] AS pair
    UNION ALL
    MATCH (d)-[f:FEEDS]->(j:Job)-[p:PRODUCED]->(o:Dataset) WHERE f.current AND NOT p.current
    RETURN [j.urn, o.urn] AS pair
  } AS stale,
  COLLECT {
    MATCH (d)-[e:FEEDS]->(o:Dataset) WHERE e.current
    RETURN [o.urn, EXISTS { (o)-[:HAS_COLUMN]->(:Column)<-[:FEEDS {job: ''}]-(:Column) }]
  } AS feeds,
  COLLECT {
    MATCH ()-[e:CITED_BY]->(a:Answer)
    USING INDEX SEEK e:CITED_BY(dataset)
    WHERE e.dataset = urn
    RETURN [a.urn, ''] AS citation
    UNION
    MATCH (d)-[:HAS_COLUMN]->(c:Column)-[:CITED_BY]->(a:Answer)
    RETURN [a.urn, c.urn] AS citation
  } AS citations
