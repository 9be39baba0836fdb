// The map: a dataset is known to come from another when a job makes it. job is '' where no job was named.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (o:Dataset {urn: row.output})
MATCH (i:Dataset {urn: row.input})
MERGE (o)-[e:DERIVED_FROM {job: row.job}]->(i)
SET e.firstSeen = CASE WHEN e.firstSeen <= row.first THEN e.firstSeen ELSE row.first END
