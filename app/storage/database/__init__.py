"""The database: connections, transactions, tables, migrations and notifications."""
