"""The host puts the house together: settings, server, runner and command line; nobody imports it."""
