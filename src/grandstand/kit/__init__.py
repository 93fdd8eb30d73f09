"""What every application is made of: routes, pages, jobs, commands and their like."""
