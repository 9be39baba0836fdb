// Mark the outputs of a job whose origins a lineage facet lists: on a run (explicit) or in the
// newest declaration (declared: a list, or null without such a declaration).
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
MATCH (l:WriteLock {name: 'graph'})
UNWIND $rows AS row
MATCH (j:Job {urn: row.job})-[p:PRODUCED]->(o:Dataset {urn: row.output})
WITH l, row, o, p,
  CASE WHEN row.explicit OR row.declared IS NOT NULL THEN true ELSE null END AS explicit
SET o.lineageRevision = CASE
      WHEN coalesce(p.explicit, false) = coalesce(explicit, false) THEN o.lineageRevision
      ELSE l.revision END,
    p.explicit = explicit
WITH l, row, o
MATCH (o)-[e:DERIVED_FROM {job: row.job}]->(i:Dataset)
WITH l, o, e, CASE WHEN i.urn IN row.declared THEN true ELSE null END AS declared
SET o.lineageRevision = CASE
      WHEN coalesce(e.declared, false) = coalesce(declared, false) THEN o.lineageRevision
      ELSE l.revision END,
    e.declared = declared
