"""One file for each outsider of bets: feeds of odds and figures, and the files people bring."""
