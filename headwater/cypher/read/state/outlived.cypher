// Return the transactions of callers' statements that Neo4j has ended, and that go on nevertheless:
// it ends a statement between two rows, and neither while it plans nor within an expression.
// access: read
// params: none
// returns: id
// example: headwater cypher read/state/outlived
SHOW TRANSACTIONS YIELD transactionId, status, metaData
WHERE status STARTS WITH 'Terminated' AND metaData.statement = 'of a caller'
RETURN transactionId AS id
ORDER BY id
