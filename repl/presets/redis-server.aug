# redis 6 and later: a command, from reading it to writing its answer; of a pipeline all together.
span command from processInputBuffer key arg0 keep to writeToClient%return key arg0
