# discover_tests(TARGET LABEL TIMEOUT SECONDS [ALONE PATTERN...]): the tests of a Google Test program,
# several at a time, or one (AUGER_PARALLEL_TESTS=OFF). Those that a neighbour would disturb run
# alone in any case, each pattern one of --gtest_filter: what observes the whole machine or all
# processes of a name, what finds out whether anybody probes a program, what samples so often that
# nobody else gets a CPU, what compares times of which each is a CPU's to itself, and what waits for
# no longer than a user would.
include(GoogleTest)

option(AUGER_PARALLEL_TESTS "Run tests that no neighbour disturbs several at a time" ON)

function(discover_tests target label)
    cmake_parse_arguments(PARSE_ARGV 2 ARG "" TIMEOUT ALONE)
    set(properties LABELS ${label} TIMEOUT ${ARG_TIMEOUT})
    if(NOT AUGER_PARALLEL_TESTS)
        gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST
                             PROPERTIES ${properties} RUN_SERIAL ON)
        return()
    endif()
    if(NOT ARG_ALONE)
        gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST PROPERTIES ${properties})
        return()
    endif()
    list(JOIN ARG_ALONE ":" alone)
    gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST TEST_FILTER "-${alone}"
                         PROPERTIES ${properties})
    gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST TEST_FILTER "${alone}"
                         PROPERTIES ${properties} RUN_SERIAL ON)
endfunction()
