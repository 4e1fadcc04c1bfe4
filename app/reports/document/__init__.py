"""A report as a document: tables with footnotes, in Markdown and LaTeX, with its origin."""
