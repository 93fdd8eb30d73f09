"""The web server: one ASGI application with all apps."""
