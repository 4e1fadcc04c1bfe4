"""The messages between the server and a grader: framing, strict JSON, bounds."""
