# A database under load: why are some of its statements slow?
#     auger -p $(pidof mariadbd) -f mariadb.aug
# The load comes twice, each time from 8 clients: each sends 1,500 statements and says goodbye,
# which is a command too. Most statements read one row by its key, a few read the whole table.

echo == 1. Time every command of a client, and the statement in it.
time dispatch_command
time mysql_parse
echo ready
wait until calls dispatch_command >= 12008 for 60s
hist dispatch_command
hist mysql_parse
status

echo == 2. Sample, and split the samples by whether the command turned out slow.
sample 999
split dispatch_command > p95
slow mysql_parse > p99
echo ready
wait until calls dispatch_command >= 24016 for 60s
diff slow fast
calls mysql_parse -n 20
flame
status

# Reading a table from one end to the other: an index is missing. 4 of 100 statements do, so the
# slowest 5 hold most of them, whatever else waits for a CPU. (The slowest one may hold few: where CPUs
# are short, a wait for one is longer than reading the table.)
assert share slow rr_sequential > 50%

echo == 3. The same samples, split at another threshold.
threshold dispatch_command p99
status
assert lost == 0
