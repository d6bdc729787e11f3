// SPDX-License-Identifier: GPL-3.0-or-later
// What start-up is measured on: a process that maps 200 MB of Debian's libraries and runs deep in
// some of them, a thread each. Says how many it runs in and how many bytes of libraries it maps.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void* open_library(const char* name) {
    void* library = dlopen(name, RTLD_NOW);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    return library;
}

// A compiler's front end: parses a header of the C++ library.
static void* parse(void* library) {
    struct source {
        const char *name, *text;
        unsigned long length;
    } source = {"x.cpp", "#include <regex>\n", 17};
    const char* const arguments[] = {"-std=c++17"};
    void* (*create)(int, int) = dlsym(library, "clang_createIndex");
    void* (*read)(void*, const char*, const char* const*, int, struct source*, unsigned, unsigned) =
        dlsym(library, "clang_parseTranslationUnit");
    void (*dispose)(void*) = dlsym(library, "clang_disposeTranslationUnit");
    void* index = create(0, 0);
    for (;;) {
        void* unit = read(index, "x.cpp", arguments, 1, &source, 1, 0);
        if (unit)
            dispose(unit);
    }
    return NULL;
}

// A compiler's back end: optimises a function and makes machine code of it.
static void* generate(void* library) {
    void* (*get_context)(void) = dlsym(library, "LLVMGetGlobalContext");
    void* (*make_buffer)(const char*, size_t, const char*) =
        dlsym(library, "LLVMCreateMemoryBufferWithMemoryRangeCopy");
    int (*parse_ir)(void*, void*, void**, char**) = dlsym(library, "LLVMParseIRInContext");
    int (*get_target)(const char*, void**, char**) = dlsym(library, "LLVMGetTargetFromTriple");
    void* (*make_machine)(void*, const char*, const char*, const char*, int, int, int) =
        dlsym(library, "LLVMCreateTargetMachine");
    int (*emit)(void*, void*, int, char**, void**) =
        dlsym(library, "LLVMTargetMachineEmitToMemoryBuffer");
    void (*drop_buffer)(void*) = dlsym(library, "LLVMDisposeMemoryBuffer");
    void (*drop_module)(void*) = dlsym(library, "LLVMDisposeModule");
    static const char* const prepare[] = {"LLVMInitializeX86TargetInfo", "LLVMInitializeX86Target",
                                          "LLVMInitializeX86TargetMC",
                                          "LLVMInitializeX86AsmPrinter"};
    for (size_t i = 0; i < sizeof prepare / sizeof *prepare; ++i)
        ((void (*)(void))dlsym(library, prepare[i]))();
    static char text[1 << 20];
    size_t length = 0;
    for (int i = 0; i < 500; ++i)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "define i64 @f%d(i64 %%a, i64 %%b) {\n"
                                   "  %%c = mul i64 %%a, %d\n  %%d = sdiv i64 %%c, %%b\n"
                                   "  %%e = call i64 @f%d(i64 %%d, i64 %%c)\n"
                                   "  %%g = xor i64 %%e, %%a\n  ret i64 %%g\n}\n",
                                   i, i + 3, i ? i - 1 : 0);
    const char* triple = "x86_64-pc-linux-gnu";
    void *target, *module, *code;
    char* message;
    if (get_target(triple, &target, &message))
        return NULL;
    void* machine = make_machine(target, triple, "generic", "", 2, 0, 0);
    for (;;) {
        if (parse_ir(get_context(), make_buffer(text, length, "text"), &module, &message))
            return NULL;
        if (!emit(machine, module, 1, &message, &code))
            drop_buffer(code);
        drop_module(module);
    }
}

// A solver, at a problem that keeps it busy.
static void* solve(void* library) {
    void* (*make_config)(void) = dlsym(library, "Z3_mk_config");
    void* (*make_context)(void*) = dlsym(library, "Z3_mk_context");
    void (*drop_context)(void*) = dlsym(library, "Z3_del_context");
    const char* (*evaluate)(void*, const char*) = dlsym(library, "Z3_eval_smtlib2_string");
    for (;;) {
        void* context = make_context(make_config());
        evaluate(context, "(declare-const a (_ BitVec 20))(declare-const b (_ BitVec 20))"
                          "(assert (= (bvmul a b) #xabcd1))(assert (bvugt a #x00010))"
                          "(assert (bvugt b #x00010))(check-sat)");
        drop_context(context);
    }
    return NULL;
}

// An interpreter.
static void* interpret(void* library) {
    ((void (*)(int))dlsym(library, "Py_InitializeEx"))(0);
    int (*run)(const char*) = dlsym(library, "PyRun_SimpleString");
    for (;;)
        run("sorted(str(i) for i in range(10000))");
    return NULL;
}

static int add_size(struct dl_phdr_info* info, size_t size, void* sum) {
    struct stat status;
    (void)size;
    if (info->dlpi_name[0] && stat(info->dlpi_name, &status) == 0)
        *(unsigned long*)sum += (unsigned long)status.st_size;
    return 0;
}

int main(void) {
    static const struct {
        const char* name;
        void* (*work)(void*);
    } libraries[] = {{"libclang-14.so.1", parse},
                     {"libLLVM-14.so.1", generate},
                     {"libz3.so.4", solve},
                     {"libpython3.11.so.1.0", interpret}};
    unsigned long started = 0, bytes = 0;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; ++i) {
        pthread_t thread;
        void* library = open_library(libraries[i].name);
        if (library && pthread_create(&thread, NULL, libraries[i].work, library) == 0)
            started++;
    }
    dl_iterate_phdr(add_size, &bytes);
    printf("%lu %lu\n", started, bytes);
    fflush(stdout);
    // Goes with whoever listens.
    char byte;
    while (read(0, &byte, 1) > 0)
        ;
    _exit(0);
}
