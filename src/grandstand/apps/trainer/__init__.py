"""Trainer: judgement practised on scenarios, scored with reasons, and seen to grow."""
