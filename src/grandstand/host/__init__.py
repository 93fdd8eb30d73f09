"""The host puts the house together: settings, servers, command line; nobody imports it."""
