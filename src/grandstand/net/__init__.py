"""The way to the network: clients, retries, rate limits, sockets and pushes."""
