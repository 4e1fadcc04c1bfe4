"""HTTP mechanics shared by all routes: problems, uploads, streams, logs."""
