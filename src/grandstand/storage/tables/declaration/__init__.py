"""Declarations of tables, entities, fields, keys and access patterns."""
