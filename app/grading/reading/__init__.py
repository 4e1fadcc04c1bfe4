"""From bytes to cells: encoding, header, records, the fast CSV reader."""
