"""The Kalshi exchange: REST client and WebSocket stream."""
