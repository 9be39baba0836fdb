// Return the given answers with the versions that they cite as the newest data, themselves or
// through the answers that they cite. Citations of one very version are left out.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 200
// returns: urn, generatedAt, owners, facts, cited
// example: headwater cypher read/findings/answer_citations --param urns=answer:worst-carrier-2013
UNWIND $urns AS urn
MATCH (a:Answer {urn: urn})
RETURN urn, a.generatedAt AS generatedAt, a.owners AS owners, a.facts AS facts, COLLECT {
  MATCH (a)<-[:CITED_BY]-{0,5}(cited:Answer)
  WITH DISTINCT cited
  MATCH (cited)<-[e:CITED_BY]-(v:Source|Artifact)
  WHERE NOT coalesce(e.pinned, false)
  RETURN DISTINCT v.urn ORDER BY v.urn LIMIT $limit
} AS cited
