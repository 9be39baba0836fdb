// Lock the state of the detector until the transaction ends, so that passes follow one another. The
// write lock of the graph is not taken: the worker never waits for a pass.
// access: write
// params: none
// returns: properties
// example: run by `headwater detect`
MERGE (d:Detector {name: 'graph'})
SET d.name = 'graph'
RETURN properties(d) AS properties
