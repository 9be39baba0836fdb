// Return the longest chains of jobs in the current lineage graph. A chain leads from a dataset that
// no job produces to one that no job reads; each end has its one longest chain. The search proceeds
// layer by layer, with each dataset once a layer, so forks and joins add no cost. A chain of
// hopsMax hops (100 at most) may be longer, or a cycle. This is a scan over all datasets, for those
// where chains begin. In a large graph, name the namespace in which they begin.
// access: read
// params: $namespace STRING = null, $hopsMax INTEGER = 50, $limit INTEGER = 20
// returns: hops, begins, ends, through
// example: headwater cypher longest_chains --param limit=3
WITH CASE WHEN $hopsMax > 100 THEN 100 ELSE $hopsMax END AS hopsMax
MATCH (d:Dataset)
WHERE ($namespace IS NULL OR d.namespace = $namespace)
  AND EXISTS { (d)-[:FEEDS {current: true}]->(:Job) }
    AND NOT EXISTS { (:Job)-[:PRODUCED {current: true}]->(d) }
WITH hopsMax, collect(d) AS beginnings
WITH hopsMax, reduce(layers = [beginnings], hop IN range(1, hopsMax) |
  CASE WHEN layers[-1] = [] THEN layers ELSE layers + [COLLECT {
    UNWIND layers[-1] AS i
    MATCH (i)-[:FEEDS {current: true}]->(j:Job)-[p:PRODUCED {current: true}]->(o:Dataset)
    WHERE i <> o AND ((p.explicit AND EXISTS {
        (o)-[r:DERIVED_FROM WHERE r.job = j.urn AND ('lineage' IN r.evidence OR r.declared)]->(i)
      })
      OR (p.explicit IS NULL AND (NOT EXISTS { (o)-[r:DERIVED_FROM
        WHERE r.job = j.urn]->(:Dataset)-[:FEEDS]->(j) }
        OR EXISTS { (o)-[r:DERIVED_FROM WHERE r.job = j.urn]->(i) })))
    RETURN DISTINCT o
  }] END) AS layers
CALL (layers, hopsMax) {
  UNWIND range(1, size(layers) - 1) AS hop
  UNWIND layers[hop] AS end
  WITH hopsMax, end, max(hop) AS hops
  WHERE hops = hopsMax OR NOT EXISTS {
    MATCH (end)-[:FEEDS {current: true}]->(j:Job)-[p:PRODUCED {current: true}]->(o:Dataset)
    WHERE end <> o AND ((p.explicit AND EXISTS {
        (o)-[r:DERIVED_FROM WHERE r.job = j.urn AND ('lineage' IN r.evidence OR r.declared)]->(end)
      })
      OR (p.explicit IS NULL AND (NOT EXISTS { (o)-[r:DERIVED_FROM
        WHERE r.job = j.urn]->(:Dataset)-[:FEEDS]->(j) }
        OR EXISTS { (o)-[r:DERIVED_FROM WHERE r.job = j.urn]->(end) })))
  }
  RETURN end, hops ORDER BY hops DESC, end.urn LIMIT $limit
}
WITH hops, reduce(chain = [end], hop IN range(hops - 1, 0, -1) | COLLECT {
    WITH layers[hop] AS layer, head(chain) AS o
    MATCH (o)<-[p:PRODUCED {current: true}]-(j:Job)<-[:FEEDS {current: true}]-(i:Dataset)
    WHERE i <> o AND i IN layer AND ((p.explicit AND EXISTS {
        (o)-[r:DERIVED_FROM WHERE r.job = j.urn AND ('lineage' IN r.evidence OR r.declared)]->(i)
      })
      OR (p.explicit IS NULL AND (NOT EXISTS { (o)-[r:DERIVED_FROM
        WHERE r.job = j.urn]->(:Dataset)-[:FEEDS]->(j) }
        OR EXISTS { (o)-[r:DERIVED_FROM WHERE r.job = j.urn]->(i) })))
    RETURN i ORDER BY i.urn LIMIT 1
  } + chain) AS chain
RETURN hops, chain[0].namespace + ' ' + chain[0].name AS begins,
  chain[-1].namespace + ' ' + chain[-1].name AS ends,
  [d IN chain[1..-1] | d.name] AS through
ORDER BY hops DESC, begins, ends
