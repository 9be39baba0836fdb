// Take the write lock: one writer at a time (a worker, a second worker, a pipeline). The lock on
// this node lasts until the transaction ends, so reads after it stay true until the writes. Every
// transaction that holds it is one revision of the graph: a writer that left it at revision n and
// finds n + 1 knows that no other wrote between.
// `erasing` is the id of the erasure that has marked the graph, or empty. `graph` identifies the
// graph; it changes when the graph is erased.
// access: write
// params: $holder STRING
// returns: erasing, revision, graph
// example: run by the worker
MERGE (l:WriteLock {name: 'graph'}) ON CREATE SET l.graph = randomUUID()
SET l.holder = $holder, l.revision = coalesce(l.revision, 0) + 1
RETURN coalesce(toString(l.erasing), '') AS erasing, l.revision AS revision,
  coalesce(l.graph, '') + ' ' + coalesce(l.erasedAt, 0) AS graph
