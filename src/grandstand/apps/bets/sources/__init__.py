"""The odds, score and statistics feeds belong here, one file each; empty as yet."""
