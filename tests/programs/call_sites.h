// SPDX-License-Identifier: GPL-3.0-or-later
//
// A call site's own account: on which line it stands, how often it was passed, how its calls ended.
#ifndef AUGER_TESTS_PROGRAMS_CALL_SITES_H
#define AUGER_TESTS_PROGRAMS_CALL_SITES_H

#include "common/truth.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct call_site {
    const char* callee;
    const char* file;
    int line;
    uint64_t entries, returns, unwound;
};

// To be written on the line of the call. `times`: how many call instructions or rounds follow.
#define CALLING(site, times)                                                                       \
    ((site).line = __LINE__, (site).file = __FILE__, truth_add(&(site).entries, (times)))

// In libcall_sites.so: `work` is what the sites call, counted by itself, too.
int work(int value);
void empty(void);
int call_from_library(int value);
int call_back(int (*function)(int), int value, struct call_site* account);
extern struct call_site library_site;
extern uint64_t work_calls;

// Names it as a probe: `work@call_sites.c:12`. The result is the caller's, for good.
static inline struct truth_function site_as_function(const struct call_site* site, char* name,
                                                     size_t size) {
    const char* slash = __builtin_strrchr(site->file ? site->file : "", '/');
    snprintf(name, size, "%s@%s:%d", site->callee, slash ? slash + 1 : "", site->line);
    struct truth_function function = {name, site->entries, site->returns, site->unwound};
    return function;
}

#ifdef __cplusplus
}
#endif

#endif
