"""What somebody wrote, and what it means: templates, shape, names, links, groups, declarations of a topology file."""
