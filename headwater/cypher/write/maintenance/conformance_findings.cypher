// Set findings: the rule, the field, the count and one example, for each producer.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MERGE (n:ConformanceFinding {urn: row.urn})
SET n += row.properties
