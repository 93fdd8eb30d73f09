"""A push service on loopback: APNs, Web Push, and the phones it reaches."""
