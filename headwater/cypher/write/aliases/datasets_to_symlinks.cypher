// Turn datasets into symlinks: they are now names of other datasets.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
MATCH (l:WriteLock {name: 'graph'})
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
REMOVE d:Dataset
SET d:Symlink, d = {urn: urn, facts: d.facts, namespace: d.namespace, name: d.name,
    lineageRevision: l.revision}
