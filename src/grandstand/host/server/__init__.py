"""The web server: one ASGI application of all applications, and what stands before it."""
