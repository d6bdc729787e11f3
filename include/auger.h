// SPDX-License-Identifier: 0BSD
//
// Marks in a program: what it works for, told to auger (and to other tracers of USDT probes).
//
//     #include <auger.h>
//
//     AUGER_SPAN_BEGIN(checkout, request->id);   // this thread works for it from here on ...
//     AUGER_SPAN_PARK(checkout, request->id);    // ... no longer: it waits, or is handed over ...
//     AUGER_SPAN_RESUME(checkout, request->id);  // ... and again, on this thread or another
//     AUGER_SPAN_END(checkout, request->id);     // on any thread
//     AUGER_MARK(cache_miss, key, size);         // something happened: up to six values
//
// In C++ an object ends its span however its scope is left:
//
//     AUGER_SPAN(checkout, request.id);          // until the end of the block
//
//     AUGER_SPAN_TYPE(Checkout, checkout);       // a type, for members and hand-over
//     Checkout span{request.id};                 // auger::Span: movable, park(), resume(), end()
//
// In auger `span auto` makes a span of each name; a mark is the probe usdt:auger:cache_miss.
//
// An id tells the spans of one name apart that are open at once: a number, or a pointer. Values are
// whole numbers and pointers. Both are evaluated only while a tracer is attached to the point, so,
// as with assert(), they must have no side effects.
//
// Each point is a USDT probe (provider `auger`, NAME__begin, NAME__end, NAME__park, NAME__resume,
// or the mark's name), a one-byte nop behind the test of a 2-byte counter (its semaphore), which
// the kernel counts up while somebody is attached. So a point that nobody watches costs a load and
// a branch that is not taken. There is nothing to link and no state. Names are identifiers.
//
// GCC and Clang; C99, C++11 and later; Linux on x86-64 and aarch64. Elsewhere, and where
// AUGER_DISABLED is defined, all of it is nothing.
#ifndef AUGER_H
#define AUGER_H

#if defined(__linux__) && defined(__ELF__) && defined(__LP64__) && defined(__GNUC__) &&            \
    (defined(__x86_64__) || defined(__aarch64__)) && !defined(AUGER_DISABLED)
#define AUGER_ENABLED 1
#else
#define AUGER_ENABLED 0
#endif

#define AUGER_SPAN_BEGIN(name, id) AUGER_POINT_(#name "__begin", id)
#define AUGER_SPAN_END(name, id) AUGER_POINT_(#name "__end", id)
#define AUGER_SPAN_PARK(name, id) AUGER_POINT_(#name "__park", id)
#define AUGER_SPAN_RESUME(name, id) AUGER_POINT_(#name "__resume", id)

// AUGER_MARK(name) to AUGER_MARK(name, value, value, value, value, value, value)
#define AUGER_MARK(...)                                                                            \
    AUGER_EIGHTH_(__VA_ARGS__, AUGER_MARK_6_, AUGER_MARK_5_, AUGER_MARK_4_, AUGER_MARK_3_,         \
                  AUGER_MARK_2_, AUGER_MARK_1_, AUGER_MARK_0_, )                                   \
    (__VA_ARGS__)
#define AUGER_EIGHTH_(a, b, c, d, e, f, g, h, ...) h

#if AUGER_ENABLED

#if !defined(__clang__) && __GNUC__ >= 9
#define AUGER_ASM_ __asm__ __inline __volatile__ // as small as it is: for who decides on inlining
#else
#define AUGER_ASM_ __asm__ __volatile__
#endif

#define AUGER_SEMAPHORE_(point) "auger_" point "_semaphore"

// What is the machine's: reading the semaphore, an operand that is a register, and a relocation
// that does nothing.
#ifdef __x86_64__
#define AUGER_READ_(symbol) "movz{wl\t" symbol "(%%rip), %0|x\t%0, WORD PTR " symbol "[rip]}"
#define AUGER_REGISTER_(operand) "{|%%}%[" operand "]"
#define AUGER_NO_RELOCATION_ "R_X86_64_NONE"
#else
#define AUGER_READ_(symbol) "adrp\t%x0, " symbol "\n\tldrh\t%w0, [%x0, :lo12:" symbol "]"
#define AUGER_REGISTER_(operand) "%x[" operand "]"
#define AUGER_NO_RELOCATION_ "R_AARCH64_NONE"
#endif

// One semaphore for all points of a name in a program or library.
#define AUGER_IS_WATCHED_(point)                                                                   \
    __extension__({                                                                                \
        unsigned auger_watchers_;                                                                  \
        AUGER_ASM_(AUGER_READ_(AUGER_SEMAPHORE_(point)) : "=r"(auger_watchers_));                  \
        __builtin_expect(auger_watchers_ != 0, 0);                                                 \
    })

// The note has the format of SystemTap's <sys/sdt.h>, version 3. It goes where its code goes ("?").
#define AUGER_NOTE_(point, semaphore, arguments)                                                   \
    "990: nop\n"                                                                                   \
    ".pushsection .note.stapsdt,\"?\",\"note\"\n"                                                  \
    ".balign 4\n"                                                                                  \
    ".4byte 992f-991f, 994f-993f, 3\n"                                                             \
    "991: .asciz \"stapsdt\"\n"                                                                    \
    "992: .balign 4\n"                                                                             \
    "993: .8byte 990b\n"                                                                           \
    ".8byte _.stapsdt.base\n"                                                                      \
    ".8byte " semaphore "\n"                                                                       \
    ".asciz \"auger\"\n"                                                                           \
    ".asciz \"" point "\"\n"                                                                       \
    ".asciz \"" arguments "\"\n"                                                                   \
    "994: .balign 4\n"                                                                             \
    ".popsection\n"                                                                                \
    ".ifndef " semaphore "\n"                                                                      \
    ".pushsection .probes,\"awG\",\"progbits\"," semaphore ",comdat\n"                             \
    ".balign 2\n"                                                                                  \
    ".weak " semaphore "\n"                                                                        \
    ".hidden " semaphore "\n"                                                                      \
    ".type " semaphore ", \"object\"\n"                                                            \
    ".size " semaphore ", 2\n" semaphore ": .2byte 0\n"                                            \
    ".reloc " semaphore ", " AUGER_NO_RELOCATION_ ", _.stapsdt.base\n"                             \
    ".popsection\n"                                                                                \
    ".endif\n"                                                                                     \
    ".ifndef _.stapsdt.base\n"                                                                     \
    ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"                        \
    ".weak _.stapsdt.base\n"                                                                       \
    ".hidden _.stapsdt.base\n"                                                                     \
    "_.stapsdt.base: .space 1\n"                                                                   \
    ".size _.stapsdt.base, 1\n"                                                                    \
    ".popsection\n"                                                                                \
    ".endif\n"

#ifdef __cplusplus
#define AUGER_WORD_(value) ::auger::detail::word(value)
#define AUGER_IS_SIGNED_(value) (sizeof(::auger::detail::sign(value)) == 2)
#else
#define AUGER_WORD_(value) ((unsigned long)(value))
// 0 ? x : x has a type that has a name, also where x is a bit-field.
#define AUGER_IS_SIGNED_(value)                                                                    \
    ((__typeof__(__builtin_choose_expr(__builtin_classify_type(value) <= 4, 0 ? (value) : (value), \
                                       0U)))-1 < 1)
#endif
#define AUGER_SIZE_(value) (AUGER_IS_SIGNED_(value) ? -8 : 8)

// An operand of the note, and what the assembly is given for it.
#define AUGER_TEXT_(n) "%c[s" #n "]@" AUGER_REGISTER_("v" #n)
#define AUGER_GIVEN_(n, value) [s##n] "n"(AUGER_SIZE_(value)), [v##n] "r"(AUGER_WORD_(value))

#define AUGER_TEXT_1_ AUGER_TEXT_(0)
#define AUGER_TEXT_2_ AUGER_TEXT_1_ " " AUGER_TEXT_(1)
#define AUGER_TEXT_3_ AUGER_TEXT_2_ " " AUGER_TEXT_(2)
#define AUGER_TEXT_4_ AUGER_TEXT_3_ " " AUGER_TEXT_(3)
#define AUGER_TEXT_5_ AUGER_TEXT_4_ " " AUGER_TEXT_(4)
#define AUGER_TEXT_6_ AUGER_TEXT_5_ " " AUGER_TEXT_(5)

#define AUGER_GIVEN_1_(a) AUGER_GIVEN_(0, a)
#define AUGER_GIVEN_2_(a, b) AUGER_GIVEN_1_(a), AUGER_GIVEN_(1, b)
#define AUGER_GIVEN_3_(a, b, c) AUGER_GIVEN_2_(a, b), AUGER_GIVEN_(2, c)
#define AUGER_GIVEN_4_(a, b, c, d) AUGER_GIVEN_3_(a, b, c), AUGER_GIVEN_(3, d)
#define AUGER_GIVEN_5_(a, b, c, d, e) AUGER_GIVEN_4_(a, b, c, d), AUGER_GIVEN_(4, e)
#define AUGER_GIVEN_6_(a, b, c, d, e, f) AUGER_GIVEN_5_(a, b, c, d, e), AUGER_GIVEN_(5, f)

// What values point to is in memory by then.
#define AUGER_REACHED_(point, arguments, ...)                                                      \
    do {                                                                                           \
        if (AUGER_IS_WATCHED_(point))                                                              \
            AUGER_ASM_(AUGER_NOTE_(point, AUGER_SEMAPHORE_(point), arguments)                      \
                       :                                                                           \
                       : __VA_ARGS__                                                               \
                       : "memory");                                                                \
    } while (0)

#define AUGER_POINT_(point, id)                                                                    \
    AUGER_REACHED_(point, "8@" AUGER_REGISTER_("key"), [key] "r"(AUGER_WORD_(id)))

#define AUGER_MARK_0_(name) AUGER_REACHED_(#name, "", [none] "n"(0))
#define AUGER_MARK_1_(name, a) AUGER_REACHED_(#name, AUGER_TEXT_1_, AUGER_GIVEN_1_(a))
#define AUGER_MARK_2_(name, a, b) AUGER_REACHED_(#name, AUGER_TEXT_2_, AUGER_GIVEN_2_(a, b))
#define AUGER_MARK_3_(name, a, b, c) AUGER_REACHED_(#name, AUGER_TEXT_3_, AUGER_GIVEN_3_(a, b, c))
#define AUGER_MARK_4_(name, a, b, c, d)                                                            \
    AUGER_REACHED_(#name, AUGER_TEXT_4_, AUGER_GIVEN_4_(a, b, c, d))
#define AUGER_MARK_5_(name, a, b, c, d, e)                                                         \
    AUGER_REACHED_(#name, AUGER_TEXT_5_, AUGER_GIVEN_5_(a, b, c, d, e))
#define AUGER_MARK_6_(name, a, b, c, d, e, f)                                                      \
    AUGER_REACHED_(#name, AUGER_TEXT_6_, AUGER_GIVEN_6_(a, b, c, d, e, f))

#ifdef __cplusplus
namespace auger {
namespace detail {

template <class T>
inline unsigned long word(T value) {
    return static_cast<unsigned long>(value);
}
template <class T>
inline unsigned long word(T* value) {
    return reinterpret_cast<unsigned long>(value);
}

template <class T, bool is_enum>
struct is_signed {
    static const bool value = static_cast<T>(-1) < static_cast<T>(1);
};
template <class T>
struct is_signed<T, true> {
    static const bool value = true;
};
template <class T>
struct is_signed<T*, false> {
    static const bool value = false;
};
template <bool is_signed>
struct size {
    typedef char type[is_signed ? 2 : 1];
};
template <class T>
typename size<is_signed<T, __is_enum(T)>::value>::type& sign(T);

} // namespace detail
} // namespace auger
#endif

#else // nothing

#define AUGER_NOTHING_(value)                                                                      \
    do {                                                                                           \
        if (0)                                                                                     \
            (void)(value);                                                                         \
    } while (0)
#define AUGER_POINT_(point, id) AUGER_NOTHING_(id)
#define AUGER_MARK_0_(name) AUGER_NOTHING_(0)
#define AUGER_MARK_1_(name, a) AUGER_NOTHING_(a)
#define AUGER_MARK_2_(name, a, b) AUGER_NOTHING_(((void)(a), (b)))
#define AUGER_MARK_3_(name, a, b, c) AUGER_NOTHING_(((void)(a), (void)(b), (c)))
#define AUGER_MARK_4_(name, a, b, c, d) AUGER_NOTHING_(((void)(a), (void)(b), (void)(c), (d)))
#define AUGER_MARK_5_(name, a, b, c, d, e)                                                         \
    AUGER_NOTHING_(((void)(a), (void)(b), (void)(c), (void)(d), (e)))
#define AUGER_MARK_6_(name, a, b, c, d, e, f)                                                      \
    AUGER_NOTHING_(((void)(a), (void)(b), (void)(c), (void)(d), (void)(e), (f)))

#endif

#ifdef __cplusplus

namespace auger {

// A span from its construction to end(), which the destructor calls if nobody has. `Points` has
// what AUGER_SPAN_TYPE makes.
template <class Points>
class Span {
  public:
    template <class Id>
    explicit Span(Id id) : id_(as_number(id)), open_(true) {
        Points::begin(id_);
    }
    Span(Span&& other) noexcept : id_(other.id_), open_(other.open_) { other.open_ = false; }
    Span& operator=(Span&& other) noexcept {
        if (this != &other) {
            end();
            id_ = other.id_;
            open_ = other.open_;
            other.open_ = false;
        }
        return *this;
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    ~Span() { end(); }

    // The thread no longer works for it: it waits, or another thread will resume it.
    void park() {
        if (open_)
            Points::park(id_);
    }
    void resume() {
        if (open_)
            Points::resume(id_);
    }
    void end() {
        if (open_)
            Points::end(id_);
        open_ = false;
    }

  private:
    template <class Id>
    static unsigned long long as_number(Id id) {
        return static_cast<unsigned long long>(id);
    }
    template <class Id>
    static unsigned long long as_number(Id* id) {
        return reinterpret_cast<__UINTPTR_TYPE__>(id);
    }

    unsigned long long id_;
    bool open_;
};

} // namespace auger

#define AUGER_SPAN_POINTS_(type, name)                                                             \
    struct type {                                                                                  \
        static void begin(unsigned long long id) { AUGER_POINT_(name "__begin", id); }             \
        static void end(unsigned long long id) { AUGER_POINT_(name "__end", id); }                 \
        static void park(unsigned long long id) { AUGER_POINT_(name "__park", id); }               \
        static void resume(unsigned long long id) { AUGER_POINT_(name "__resume", id); }           \
    }
#define AUGER_SPAN_TYPE(type, name)                                                                \
    AUGER_SPAN_POINTS_(type##_points_, #name);                                                     \
    typedef ::auger::Span<type##_points_> type
#define AUGER_SPAN(name, id) AUGER_SPAN_HERE_(#name, id, __LINE__)
#define AUGER_SPAN_HERE_(name, id, line) AUGER_SPAN_LINE_(name, id, line)
#define AUGER_SPAN_LINE_(name, id, line)                                                           \
    AUGER_SPAN_POINTS_(auger_points_##line##_, name);                                              \
    const ::auger::Span<auger_points_##line##_> auger_span_##line##_(id)

#endif
#endif
