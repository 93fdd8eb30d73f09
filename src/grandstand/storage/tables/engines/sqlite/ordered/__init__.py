"""Kept here: keys as bytes in DynamoDB's order, and the stretches of rows they lead to."""
