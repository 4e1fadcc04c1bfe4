"""The application's operations and the state they share. Most functions take a Context."""
