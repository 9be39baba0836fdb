// Starts GraphiQL against this very server. The query in the address (?query=...) is shown, else an example.
const example = `# What failed last, and what does it touch?
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
query Trace($answerId: String = "worst-carrier-2013") {
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
