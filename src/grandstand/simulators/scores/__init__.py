"""The score feed: SportMonks' cricket API, version 2, played from tapes of matches."""
