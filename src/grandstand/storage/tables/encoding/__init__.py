"""Items and schemas as DynamoDB JSON, bytes and checksums."""
