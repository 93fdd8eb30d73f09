"""Values and rules of the trainer: the rubric, scenarios, evaluations and profiles."""
