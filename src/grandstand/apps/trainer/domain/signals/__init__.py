"""The offline judge: scores from signs of reasoning in the wording of an answer."""
