"""Kept here: items and schemas as others see them: DynamoDB's JSON, bytes, checksums."""
