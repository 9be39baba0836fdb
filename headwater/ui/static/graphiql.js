// Start GraphiQL against this server, with the query in the address (?query=...) or an example.
const example = `# Which runs failed last, and what do they touch?
query FailedRuns {
  failedRuns(first: 5) {
    edges {
      node {
        runId
        pipelineName
        failedAt
        error
        downstream {
          datasets { namespace name }
          jobs { namespace name }
          answers { answerId }
          truncated
        }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}

# Where did this answer come from?
query Trace($answerId: ID = "worst-carrier-2013") {
  trace(answerId: $answerId) {
    answer { answerId content generatedAt }
    sources { namespace name capturedAt }
    runs { runId pipelineName status startedAt }
    artifacts { name rowCount complete }
    edges { source type target }
    truncated
  }
}
`;

const address = new URLSearchParams(window.location.search);
ReactDOM.createRoot(document.getElementById("graphiql")).render(
  React.createElement(GraphiQL, {
    fetcher: GraphiQL.createFetcher({ url: window.location.pathname }),
    defaultQuery: example,
    query: address.get("query") || undefined,
    variables: address.get("variables") || undefined,
    shouldPersistHeaders: false,
    defaultEditorToolsVisibility: true,
  }),
);
