"""Series engine on PostgreSQL or TimescaleDB."""
