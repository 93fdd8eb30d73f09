"""Table engine on DynamoDB and compatible services."""
