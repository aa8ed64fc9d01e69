"""One widget a file: values in by attribute, messages out; never the session, the store or SSH."""
