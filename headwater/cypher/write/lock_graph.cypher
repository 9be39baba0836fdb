// One writer at a time, whoever it is (the worker, a second worker, a bulk pipeline): the lock on this node is held
// until the transaction ends, so what is read after it cannot change before what is written.
// access: write
// params: $holder STRING
// returns: erasing
// example: run by the worker
MERGE (l:WriteLock {name: 'graph'})
SET l.holder = $holder
RETURN coalesce(l.erasing, false) AS erasing
