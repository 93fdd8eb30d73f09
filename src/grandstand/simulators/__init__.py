"""Outsiders one can run on loopback, each speaking its real wire protocol."""
