// Everything upstream of some runs, versions and answers in history, each once, in no order: what a long walk may then
// ask about in one go. DISTINCT over a way of any length is planned as a breadth-first search that prunes.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: urn
// example: headwater cypher read/history_behind --param urns=answer:worst-carrier-2013
UNWIND $urns AS urn
CALL (urn) {
  MATCH (n:Answer {urn: urn})<-[:FEEDS|PRODUCED|CITED_BY*0..]-(o) RETURN DISTINCT o.urn AS found
  UNION
  MATCH (n:PipelineRun {urn: urn})<-[:FEEDS|PRODUCED|CITED_BY*0..]-(o) RETURN DISTINCT o.urn AS found
  UNION
  MATCH (n:Artifact {urn: urn})<-[:FEEDS|PRODUCED|CITED_BY*0..]-(o) RETURN DISTINCT o.urn AS found
  UNION
  MATCH (n:Source {urn: urn})<-[:FEEDS|PRODUCED|CITED_BY*0..]-(o) RETURN DISTINCT o.urn AS found
}
RETURN DISTINCT found AS urn
LIMIT $limit
