"""The exchange's stream: connections, what they listen to, what they are told, what goes wrong."""
