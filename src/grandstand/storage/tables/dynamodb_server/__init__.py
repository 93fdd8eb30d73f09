"""HTTP server that speaks the DynamoDB protocol on top of a table engine."""
