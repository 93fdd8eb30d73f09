"""A SportMonks cricket API, version 2, that replays recorded and generated matches."""
