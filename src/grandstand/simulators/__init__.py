"""Outsiders one can run: each speaks the real wire protocol on loopback, seeded and repeatable."""
