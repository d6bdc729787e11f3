# PostgreSQL 10 and later: a query, from the backend's becoming active (it tells the text; numbers of
# states differ between versions) to its being ready for the next one, by either protocol, errors
# too. One process serves a connection.
span query from pgstat_report_activity if arg1 != 0 keep to ReadyForQuery
