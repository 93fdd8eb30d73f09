"""Kept here: a race in one call: gathered, rated, once for all who look on, a day beforehand."""
