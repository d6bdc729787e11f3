# redis 6 and later: a command, from reading it to writing its answer; of a pipeline all together.
# Between a master and its replicas it is what comes until something is sent there, which is no
# answer: up to 10 s.
span command from processInputBuffer key arg0 keep to writeToClient%return key arg0
