"""Kept here: what concerns one person: devices, follows, Live Activities, and what is kept."""
