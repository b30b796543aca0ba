"""The service: the verbs over HTTP, for a whole organisation."""
