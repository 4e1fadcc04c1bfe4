"""Everything that is kept: tables, queries, the one write path, blobs."""
