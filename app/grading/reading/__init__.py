"""Read CSV files: encoding, header, records, the fast reader."""
