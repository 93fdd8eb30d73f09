"""Kept here: what phones, browsers and hooks are told: bulletins, starts and announcements."""
