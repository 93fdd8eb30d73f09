"""The exchange's REST: questions in, answers out."""
