"""The service: durable streams over HTTP, for any language, and a page to watch them."""
