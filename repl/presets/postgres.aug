# PostgreSQL 10 and later: a query, from the backend's becoming active (its state is "running") to
# its being ready for the next one, by either protocol, errors too. One process serves a connection.
span query from pgstat_report_activity if arg0 == 2 keep to ReadyForQuery
