"""Kept here: the engine that keeps tables in DynamoDB, or in what speaks its protocol."""
