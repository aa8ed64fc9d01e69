"""The written text and its meaning: templates, shape, names, links, groups, declarations of a topology file."""
