"""Domain of bets: odds, forecasts, settlement and stakes. No clock, no I/O."""
