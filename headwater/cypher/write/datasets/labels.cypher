// Set the label of datasets by their type, or none, in place of the one before.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (d:Dataset {urn: row.urn})
REMOVE d:Feature:File:Model:Table:Topic:View
SET d:$(row.labels)
