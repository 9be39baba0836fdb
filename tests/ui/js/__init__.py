"""The page's pure modules, tested in Node."""
