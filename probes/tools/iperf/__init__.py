"""The probe of iperf 2, and the reader of its text."""
