"""The probe of availability."""
