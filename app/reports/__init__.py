"""Reports: results as JSON documents, flat rows and Markdown."""
