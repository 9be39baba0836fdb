// Write deliveries that wait to be sent. A delivery that exists stays as it is, so two writers of
// one message send it once.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by `headwater detect`
UNWIND $rows AS row
OPTIONAL MATCH (before:Delivery {urn: row.previous})
REMOVE before.isNewest
MERGE (d:Delivery {urn: row.urn})
ON CREATE SET d += row.properties
