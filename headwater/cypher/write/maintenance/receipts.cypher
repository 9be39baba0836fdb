// Set when undated events were first received, by the digest of their content.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MERGE (n:Receipt {urn: row.urn})
ON CREATE SET n.receivedAt = row.receivedAt, n.eventTime = row.eventTime
