// One writer at a time, whoever it is (the worker, a second worker, a bulk pipeline): the lock on this node is held
// until the transaction ends, so what is read after it cannot change before what is written. Every transaction that
// holds it is one revision of the graph: who left it at revision n and finds n + 1 knows that nobody wrote between.
// access: write
// params: $holder STRING
// returns: erasing, revision
// example: run by the worker
MERGE (l:WriteLock {name: 'graph'}) ON CREATE SET l.graph = randomUUID()
SET l.holder = $holder, l.revision = coalesce(l.revision, 0) + 1
RETURN coalesce(l.erasing, false) AS erasing, l.revision AS revision
