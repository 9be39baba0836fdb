// Of which outputs of a job a lineage facet told what they came from, on a run (explicit) or in the newest declaration
// (declared: a list, or nothing where it does not say).
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (j:Job {urn: row.job})-[p:PRODUCED]->(o:Dataset {urn: row.output})
SET p.explicit = CASE WHEN row.explicit OR row.declared IS NOT NULL THEN true ELSE null END
WITH row, o
MATCH (o)-[e:DERIVED_FROM {job: row.job}]->(i:Dataset)
SET e.declared = CASE WHEN i.urn IN row.declared THEN true ELSE null END
