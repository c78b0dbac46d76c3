"""JSON queried, checked, compared, merged and made flat."""
