/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Of Perl's frames in a walk alone: names of subs, packages and files, and what they are known by.
 * All that is read may be anything. */
#ifndef AUGER_PERL_READ_H
#define AUGER_PERL_READ_H

#include "unwind.h"
#include "user_memory.h"

/* Members of what was read last. */
static __always_inline u64 perl_word(const struct stack_walk* walk, u32 offset) {
    return walk->perl.words[(offset & (PERL_BYTES - 1)) / sizeof(u64)];
}

static __always_inline u32 perl_half(const struct stack_walk* walk, u32 offset) {
    const u32* halves = (const void*)walk->perl.words;

    return halves[(offset & (PERL_BYTES - 1)) / sizeof(u32)];
}

// The head of a value of this type. The address of its body; 0: it is none.
static __always_inline u64 read_value(struct stack_walk* walk, u64 value, u8 type) {
    if (bpf_probe_read_user(walk->perl.words, WIRE_PERL_VALUE_BYTES, (void*)value) ||
        (u8)perl_half(walk, WIRE_PERL_VALUE_FLAGS) != type)
        return 0;
    return perl_word(walk, 0);
}

// What a text of so many bytes, with its zero, is known by: it is the one that was read last.
static __always_inline u64 mark_text(const struct stack_walk* walk, u64 bytes) {
    u64 mark = bytes;

    for (u32 i = 0; i < WIRE_PERL_FILE / sizeof(u64) && i * sizeof(u64) < bytes; i++) {
        u64 left = bytes - i * sizeof(u64), word = walk->perl.text[i];

        if (left < sizeof(u64))
            word &= ~0ull >> (64 - 8 * left);
        mark = wire_perl_mark(mark, word);
    }
    return mark;
}

// What the text there is known by; 0: it cannot be read.
static __always_inline u64 read_text(struct stack_walk* walk, u64 address) {
    long bytes = bpf_probe_read_user_str(walk->perl.text, WIRE_PERL_FILE, (void*)address);

    return bytes > 0 && bytes <= WIRE_PERL_FILE ? mark_text(walk, (u64)bytes) : 0;
}

// What a name is known by, all of it: memory that was freed keeps parts of what was there. 0: it
// cannot be read, and its address becomes 0.
static __always_inline u64 mark_name(struct stack_walk* walk, u64* name) {
    u64 mark = 0, text = 0;

    if (!(*name >> WIRE_PERL_FRAME_SHIFT) && read_word(*name, &mark))
        text = read_text(walk, *name + WIRE_PERL_NAME_CHARACTERS);
    if (!text)
        *name = 0;
    return text ? wire_perl_mark(mark, text) : 0;
}

// The glob of a sub: as caller() does it, the one that it was made for. Whether it could be read.
static __always_inline bool read_glob(struct stack_walk* walk, u64 glob) {
    u64 original = 0, body = read_value(walk, glob, WIRE_PERL_GLOB);

    if (!body)
        return false;
    read_word(perl_word(walk, WIRE_PERL_VALUE_MORE) + WIRE_PERL_GP_GLOB, &original);
    if (original && original != glob)
        body = read_value(walk, original, WIRE_PERL_GLOB);
    return body && read_word(body + WIRE_PERL_GLOB_NAME, &walk->perl.name) &&
           read_word(body + WIRE_PERL_GLOB_STASH, &walk->perl.stash);
}

// Into walk->perl: what is known of a sub. Whether it could be read.
__noinline int note_perl_sub(struct stack_walk* walk, u64 sub, u32 type) {
    u64 body, name, flags, stash;

    if (!walk)
        return 0;
    walk->perl.name = 0;
    walk->perl.stash = 0;
    walk->perl.start = 0;
    body = read_value(walk, sub, type);
    if (!body ||
        bpf_probe_read_user(walk->perl.words, WIRE_PERL_SUB_FLAGS + 4 - WIRE_PERL_SUB_STASH,
                            (void*)(body + WIRE_PERL_SUB_STASH)))
        return 0;
    stash = perl_word(walk, 0);
    walk->perl.start = perl_word(walk, WIRE_PERL_SUB_START - WIRE_PERL_SUB_STASH);
    name = perl_word(walk, WIRE_PERL_SUB_NAME - WIRE_PERL_SUB_STASH);
    walk->perl.sub_file = perl_word(walk, WIRE_PERL_SUB_FILE - WIRE_PERL_SUB_STASH);
    flags = perl_half(walk, WIRE_PERL_SUB_FLAGS - WIRE_PERL_SUB_STASH);
    if (flags & WIRE_PERL_NAMED) {
        walk->perl.name = name;
        walk->perl.stash = flags & WIRE_PERL_LEXICAL ? 0 : stash;
    } else if (name && !read_glob(walk, name)) {
        return 0;
    }
    if (!walk->perl.name)
        return 1;
    walk->perl.name_mark = mark_name(walk, &walk->perl.name);
    return walk->perl.name != 0;
}

// Into walk->perl: the name of the package of the sub that was read last, if it has one. Whether it
// could be read: a page may be away while the process that was forked is given its own.
__noinline int note_perl_package(struct stack_walk* walk, const struct wire_perl_layout* layout) {
    u64 stash, body, aux, most;

    if (!walk || !layout)
        return 0;
    stash = walk->perl.stash;
    if (stash == walk->perl.package_stash)
        return 1;
    walk->perl.package_stash = 0;
    walk->perl.package = 0;
    walk->perl.package_mark = 0;
    if (!stash)
        return 1;
    body = read_value(walk, stash, WIRE_PERL_PACKAGE);
    if (!body)
        return 0;
    if (!(perl_half(walk, WIRE_PERL_VALUE_FLAGS) & WIRE_PERL_HAS_AUX)) {
        walk->perl.package_stash = stash;
        return 1;
    }
    aux = body + WIRE_PERL_STASH_BODY;
    if (!layout->aux_in_body) {
        if (!read_word(body + WIRE_PERL_STASH_MOST, &most))
            return 0;
        aux = perl_word(walk, WIRE_PERL_VALUE_MORE) + (most + 1) * sizeof(u64);
    }
    if (bpf_probe_read_user(walk->perl.words, WIRE_PERL_AUX_BYTES, (void*)aux))
        return 0;
    aux = perl_word(walk, WIRE_PERL_AUX_NAME);
    if (aux && perl_half(walk, WIRE_PERL_AUX_NAMES) && !read_word(aux, &aux))
        return 0;
    walk->perl.package = aux;
    walk->perl.package_mark = aux ? mark_name(walk, &walk->perl.package) : 0;
    if (aux && !walk->perl.package)
        return 0;
    walk->perl.package_stash = stash;
    return 1;
}

// The file at hand becomes this one.
static __always_inline void note_file(struct stack_walk* walk, u64 file) {
    u64 mark;

    if (file && file == walk->perl.file)
        return;
    walk->perl.file = 0;
    walk->perl.file_mark = 0;
    if (!file || file >> WIRE_PERL_FRAME_SHIFT)
        return;
    mark = read_text(walk, file);
    if (!mark)
        return;
    walk->perl.file = file;
    walk->perl.file_mark = mark;
}

#endif
