"""Web and job framework for apps: routes, pages, live updates, auth, jobs, outbox and more."""
