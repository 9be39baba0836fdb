"""The report of the gate as Markdown, SARIF, JUnit and workflow annotations."""
