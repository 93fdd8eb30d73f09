"""The commands that look after data: tables, series, backups and copies."""
