"""An HTTP/2 client for very many small requests to one host."""
