"""Kept here: what an application declares: tables, entities, fields, keys and access patterns."""
