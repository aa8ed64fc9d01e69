"""A suite becomes rounds (``plan_rounds``), and a plan is summed up (``plan_summary``), before anything runs."""
