"""The commands `grandstand bets …`."""
