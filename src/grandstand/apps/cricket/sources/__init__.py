"""External services: the score feed, push services and the webhook."""
