# MariaDB 10 and later, by connection threads or by its pool: a command of a client, from having been
# read to its answer's having been written. It is one call.
time dispatch_command
