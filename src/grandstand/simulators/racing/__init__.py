"""A race site one can run: generated seasons of racing behind the pages of a real one."""
