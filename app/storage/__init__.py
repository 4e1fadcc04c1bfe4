"""Storage: tables, queries, the writer thread of the database, and blobs."""
