// Remove the labels by type of datasets whose names are joined or split. The same transaction sets
// them again from the joined facts.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
REMOVE d:Feature:File:Model:Table:Topic:View
