/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * python.c: CPython's running frames, read where the interpreter keeps them.
 *
 * Where its structures have their members differs from version to version and is the same in all
 * releases of one: Include/cpython/pystate.h and Include/internal/pycore_frame.h of 3.9 to 3.13
 * (pycore_interpframe_structs.h of 3.14) say so. Those of a code object are asked for by name, in
 * the table from which Python itself makes their attributes. A thread reads its own frames only,
 * inside of an allocation that they made, and so while they do not change; it needs no lock of
 * Python's for that, and calls nothing that allocates. An interpreter that ends frees the frames
 * of threads that still run, wherever they are: so they are read only while no other thread can be
 * ending it. Nor are they read in a signal handler, which may have come while the list was being
 * changed: its stack is not walked.
 *
 * From 3.11 on one invocation of the interpreter's loop, a frame of the machine's stack, runs any
 * number of Python frames. Something that it keeps on the machine's stack tells which.
 */
#include "python.h"

#include "booking.h"
#include "codes.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define KNOWN_FRAMES     8192u /* places, for frames that were met before */
#define FRAMES_MAX       65536 /* in one invocation: beyond that it is no list of frames */
#define NOTE_STACK_BYTES ((size_t)4 << 10) /* what noting a function may use */
#define CHECK_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/* In all versions, of objects on 64-bit machines. */
#define OBJECT_TYPE     8
#define TYPE_BASIC_SIZE 32
#define TYPE_MEMBERS    240
#define TEXT_LENGTH     16
#define TEXT_HASH       24
#define TEXT_STATE      32
#define OWNED_BY_ENTRY  3 /* (3.12 and later) frame.owner of the entry to an invocation */
#define REFERENCE_TAGS  UINT64_C(3) /* (3.14) bits of a reference that are none of its address */

/* A PyMemberDef, Include/structmember.h. */
struct member {
    const char *name;
    int type;
    intptr_t offset;
    int flags;
    const char *doc;
};

enum grouping {
    EACH_ALONE,     /* an invocation runs one frame */
    UP_TO_ENTRY,    /* it runs those up to one that says that it is the entry */
    UP_TO_SENTINEL, /* up to one that is no frame, and lies on the machine's stack */
};

struct layout {
    unsigned minor; /* 3.minor */
    enum grouping grouping;
    uint8_t thread_frame;  /* PyThreadState: the current frame; or the _PyCFrame that says it */
    int8_t cframe_frame;   /* _PyCFrame.current_frame; -1: there is none between */
    uint8_t cframe_outer;  /* _PyCFrame.previous */
    uint8_t frame_code;    /* the rest is of a frame: its code object */
    uint8_t frame_outer;   /* the frame that called it */
    uint8_t frame_instr;   /* where it is in its code; 0: ask PyFrame_GetLineNumber() */
    uint8_t frame_entry;   /* is_entry (UP_TO_ENTRY), owner (UP_TO_SENTINEL) */
    uint8_t text_of_ascii; /* of a str: where its characters are */
    uint8_t text_of_wide;  /* likewise, if not all are ASCII */
    uint8_t said_thread;   /* word of _PyRuntime that says thread_frame; 0: it says nothing */
    uint8_t said_frame;    /* likewise the size of a frame; where its members are comes next */
};

static const struct layout layouts[] = {
    {9, EACH_ALONE, 24, -1, 0, 32, 24, 0, 0, 48, 72, 0, 0},
    {10, EACH_ALONE, 24, -1, 0, 32, 24, 0, 0, 48, 72, 0, 0},
    {11, UP_TO_ENTRY, 56, 8, 16, 32, 48, 56, 68, 48, 72, 0, 0},
    {12, UP_TO_SENTINEL, 56, 0, 8, 0, 8, 56, 70, 40, 56, 0, 0},
    {13, UP_TO_SENTINEL, 72, -1, 0, 0, 8, 56, 70, 40, 56, 23, 28},
    {14, UP_TO_SENTINEL, 72, -1, 0, 0, 8, 56, 74, 40, 56, 26, 31},
};

/*
 * The interpreter's own symbols, where the program or one of its libraries is one. To ask the
 * loader for them by name would leave a message of failure in memory everywhere else.
 */
#define OF_PYTHON __attribute__((weak, visibility("default")))
OF_PYTHON extern const char *Py_GetVersion(void);
OF_PYTHON extern int Py_IsInitialized(void);
OF_PYTHON extern void *PyGILState_GetThisThreadState(void);
OF_PYTHON extern void *_PyThreadState_UncheckedGet(void); /* up to 3.12 */
OF_PYTHON extern void *PyThreadState_GetUnchecked(void);  /* from 3.13 on */
OF_PYTHON extern int PyCode_Addr2Line(void *code, int offset);
OF_PYTHON extern int PyFrame_GetLineNumber(void *frame);
OF_PYTHON extern void *_PyEval_EvalFrameDefault(void *, void *, int);
OF_PYTHON extern const unsigned char PyCode_Type[];
OF_PYTHON extern const uint64_t _PyRuntime[];

static struct {
    const struct layout *layout;
    void *(*running_thread)(
        void); /* PyThreadState of the thread that has Python's lock, or NULL */
    pthread_t main_thread;
    uintptr_t loop_start; /* the interpreter's loop: addresses [start, end) */
    uintptr_t loop_end;
    /* Of code objects. */
    intptr_t name;
    intptr_t path;
    intptr_t first_line;
    intptr_t instructions;
} python;

bool python_is_here;

/* A frame that was met: a value beside a check that no torn pair passes, see rule_place. */
static struct {
    _Atomic uint64_t address; /* in the trace */
    _Atomic uint64_t check;
} known_frames[KNOWN_FRAMES];

static struct codes noted;

static inline uintptr_t word_at(uintptr_t object, size_t offset) {
    return *(const uintptr_t *)(object + offset);
}

/* Finding the interpreter */

static unsigned minor_version(void) {
    const char *text = Py_GetVersion();
    if (strncmp(text, "3.", 2) != 0 || strstr(text, "free-threading") != NULL)
        return 0;
    return (unsigned)strtoul(text + 2, NULL, 10);
}

static const struct layout *find_layout(unsigned minor) {
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (layouts[i].minor == minor)
            return &layouts[i];
    return NULL;
}

/*
 * From 3.13 on an interpreter says itself where its structures have their members, in words at
 * the start of _PyRuntime (Include/internal/pycore_debug_offsets.h).
 */
static bool layout_holds(const struct layout *layout) {
    const struct {
        size_t word;
        uint64_t offset;
    } said[] = {
        {layout->said_thread, layout->thread_frame},
        {layout->said_frame + 1u, layout->frame_outer},
        {layout->said_frame + 2u, layout->frame_code},
        {layout->said_frame + 3u, layout->frame_instr},
        {layout->said_frame + 5u, layout->frame_entry},
    };
    if (layout->said_thread == 0)
        return true;
    if (memcmp(_PyRuntime, "xdebugpy", 8) != 0)
        return false;
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
        if (_PyRuntime[said[i].word] != said[i].offset)
            return false;
    return true;
}

/* Where code objects have @name; 0: they do not. */
static intptr_t find_member(const char *name) {
    const struct member *member =
        (const struct member *)word_at((uintptr_t)PyCode_Type, TYPE_MEMBERS);
    for (; member != NULL && member->name != NULL; member++)
        if (strcmp(member->name, name) == 0)
            return member->offset;
    return 0;
}

static bool find_loop(void) {
    uintptr_t loop = (uintptr_t)_PyEval_EvalFrameDefault;
    Dl_info info;
    void *symbol = NULL;
    if (dladdr1((void *)loop, &info, &symbol, RTLD_DL_SYMENT) == 0 || symbol == NULL)
        return false;
    python.loop_start = loop;
    python.loop_end = loop + ((const ElfW(Sym) *)symbol)->st_size;
    return true;
}

static bool find_code_members(void) {
    python.name = find_member("co_qualname");
    if (python.name == 0)
        python.name = find_member("co_name");
    python.path = find_member("co_filename");
    python.first_line = find_member("co_firstlineno");
    python.instructions = (intptr_t)word_at((uintptr_t)PyCode_Type, TYPE_BASIC_SIZE);
    return python.name != 0 && python.path != 0 && python.first_line != 0;
}

static bool symbols_are_here(void) {
    return Py_GetVersion != NULL && Py_IsInitialized != NULL &&
           PyGILState_GetThisThreadState != NULL && PyCode_Addr2Line != NULL &&
           PyFrame_GetLineNumber != NULL && _PyEval_EvalFrameDefault != NULL &&
           PyCode_Type != NULL && _PyRuntime != NULL;
}

static void *(*find_running_thread(void))(void) {
    return PyThreadState_GetUnchecked != NULL ? PyThreadState_GetUnchecked
                                              : _PyThreadState_UncheckedGet;
}

void python_find(void) {
    codes_restart(&noted, &recorder.file);
    if (!symbols_are_here())
        return;
    python.layout = find_layout(minor_version());
    python.running_thread = find_running_thread();
    python.main_thread = pthread_self();
    python_is_here = python.layout != NULL && python.running_thread != NULL &&
                     layout_holds(python.layout) && find_loop() && find_code_members();
}

void python_restart(void) {
    for (unsigned i = 0; i < KNOWN_FRAMES; i++)
        atomic_store_explicit(&known_frames[i].check, 0, memory_order_relaxed);
    python.main_thread = pthread_self();
    codes_restart(&noted, &recorder.file);
}

/* Names of code */

static uint32_t put_utf8(char *to, uint32_t at, uint32_t point) {
    static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
    unsigned more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    if (at + more >= CODES_TEXT_MAX)
        return CODES_TEXT_MAX;
    to[at] = (char)(leads[more] | point >> 6 * more);
    for (unsigned i = 1; i <= more; i++)
        to[at + i] = (char)(0x80 | (point >> 6 * (more - i) & 0x3f));
    return at + more + 1;
}

/* A str's text in UTF-8; what is beyond the room for it is cut. Returns its bytes. */
static uint32_t copy_text(uintptr_t text, char to[CODES_TEXT_MAX]) {
    if (text == 0)
        return 0;
    /* Bits from the lowest: interned (2), kind (3), compact, ascii. */
    uint32_t state = *(const uint32_t *)(text + TEXT_STATE);
    unsigned kind = state >> 2 & 7;
    bool compact = (state >> 5 & 1) != 0;
    bool ascii = (state >> 6 & 1) != 0;
    if (!compact)
        return 0;
    const unsigned char *from =
        (const unsigned char *)text +
        (ascii ? python.layout->text_of_ascii : python.layout->text_of_wide);
    uint64_t length = word_at(text, TEXT_LENGTH);
    uint32_t bytes = 0;
    for (uint64_t i = 0; i < length; i++) {
        uint32_t point = kind == 1   ? from[i]
                         : kind == 2 ? ((const uint16_t *)(const void *)from)[i]
                                     : ((const uint32_t *)(const void *)from)[i];
        uint32_t end = put_utf8(to, bytes, point);
        if (end == CODES_TEXT_MAX)
            break;
        bytes = end;
    }
    return bytes;
}

static uint32_t first_line_of(uintptr_t code) {
    return *(const uint32_t *)(code + (uintptr_t)python.first_line);
}

/* The id of @code in the trace; 0 while it cannot be noted. */
static uint32_t note_code(uintptr_t code) {
    bool taken;
    if (recorder_busy() || !backtrace_has_room(__builtin_frame_address(0), NOTE_STACK_BYTES) ||
        !booking_try_beside(&taken))
        return 0;
    struct code_names names = {
        .function = noted.function,
        .path = noted.path,
        .function_bytes = copy_text(word_at(code, (size_t)python.name), noted.function),
        .path_bytes = copy_text(word_at(code, (size_t)python.path), noted.path),
        .first_line = first_line_of(code),
    };
    uint32_t id = codes_id(&noted, &names);
    booking_leave_beside(taken);
    return id;
}

/* Frames */

static uint32_t line_of(uintptr_t frame, uintptr_t code) {
    int line;
    if (python.layout->frame_instr == 0) {
        line = PyFrame_GetLineNumber((void *)frame);
    } else {
        intptr_t start = (intptr_t)code + python.instructions;
        line = PyCode_Addr2Line(
            (void *)code, (int)((intptr_t)word_at(frame, python.layout->frame_instr) - start));
    }
    return line > 0 ? (uint32_t)line : 0;
}

/*
 * What tells a frame's place in the program from all others: where it is in its code, and as
 * another function may be made where one was, what that is called.
 */
static uint64_t identity_of(uintptr_t frame, uintptr_t code) {
    uintptr_t name = word_at(code, (size_t)python.name);
    uint64_t identity = python.layout->frame_instr == 0
                            ? (uint64_t)PyFrame_GetLineNumber((void *)frame)
                            : word_at(frame, python.layout->frame_instr);
    identity = (identity ^ code) * CHECK_MULTIPLIER;
    identity = (identity ^ identity >> 32 ^ name ^ word_at(name, TEXT_HASH)) * CHECK_MULTIPLIER;
    return (identity ^ identity >> 32 ^ word_at(code, (size_t)python.path)) * CHECK_MULTIPLIER ^
           first_line_of(code);
}

/* What stands for @frame in the trace; 0: it is no frame of Python code. */
static uint64_t address_of(uintptr_t frame) {
    uintptr_t code = word_at(frame, python.layout->frame_code) & ~REFERENCE_TAGS;
    if (code == 0 || word_at(code, OBJECT_TYPE) != (uintptr_t)PyCode_Type)
        return 0;
    uint64_t identity = identity_of(frame, code);
    size_t place = identity >> 40 & (KNOWN_FRAMES - 1);
    uint64_t address = atomic_load_explicit(&known_frames[place].address, memory_order_relaxed);
    if (atomic_load_explicit(&known_frames[place].check, memory_order_relaxed) ==
        (identity ^ address * CHECK_MULTIPLIER))
        return address;
    uint32_t id = note_code(code);
    address = codes_address(id, line_of(frame, code));
    if (id != 0) {
        atomic_store_explicit(&known_frames[place].address, address, memory_order_relaxed);
        atomic_store_explicit(&known_frames[place].check, identity ^ address * CHECK_MULTIPLIER,
                              memory_order_relaxed);
    }
    return address;
}

/* The frames that one invocation of the loop runs, innermost first. */
struct invocation {
    uintptr_t frame;  /* the innermost; 0: there is no invocation any more */
    uintptr_t cframe; /* 0: there are none */
    uintptr_t place;  /* on the machine's stack, within the frame of the loop; 0: not known */
    uint32_t count;
    uintptr_t outer; /* the next frame outwards, of another invocation */
};

static bool is_last(uintptr_t frame) {
    const struct layout *layout = python.layout;
    return layout->grouping == EACH_ALONE ||
           (layout->grouping == UP_TO_ENTRY &&
            *(const unsigned char *)(frame + layout->frame_entry) != 0);
}

static bool is_sentinel(uintptr_t frame) {
    const struct layout *layout = python.layout;
    return layout->grouping == UP_TO_SENTINEL &&
           *(const unsigned char *)(frame + layout->frame_entry) == OWNED_BY_ENTRY;
}

/* Count its frames, from @invocation->frame on. */
static void look_ahead(struct invocation *invocation) {
    uintptr_t frame = invocation->frame;
    invocation->count = 0;
    invocation->place = python.layout->grouping == UP_TO_ENTRY ? invocation->cframe : 0;
    while (frame != 0 && invocation->count < FRAMES_MAX) {
        if (is_sentinel(frame)) {
            invocation->place = frame;
            frame = word_at(frame, python.layout->frame_outer);
            break;
        }
        invocation->count++;
        bool last = is_last(frame);
        frame = word_at(frame, python.layout->frame_outer);
        if (last)
            break;
    }
    invocation->outer = frame;
}

/*
 * This thread's PyThreadState; 0: it has none, or another thread may free that at any moment. To
 * end an interpreter takes its lock, and is what the main thread does: daemon threads that
 * are in C code without the lock go on meanwhile.
 */
static uintptr_t find_thread(void) {
    /* Before and after, what says which thread this is is not there either. */
    void *thread = Py_IsInitialized() ? PyGILState_GetThisThreadState() : NULL;
    if (thread == NULL || (thread != python.running_thread() &&
                           !pthread_equal(pthread_self(), python.main_thread)))
        return 0;
    return (uintptr_t)thread;
}

static struct invocation innermost_invocation(void) {
    const struct layout *layout = python.layout;
    struct invocation invocation = {0};
    uintptr_t thread = find_thread();
    if (thread == 0)
        return invocation;
    invocation.frame = word_at(thread, layout->thread_frame);
    if (layout->cframe_frame >= 0) {
        invocation.cframe = invocation.frame;
        invocation.frame = invocation.cframe != 0
                               ? word_at(invocation.cframe, (size_t)layout->cframe_frame)
                               : 0;
    }
    if (invocation.frame != 0)
        look_ahead(&invocation);
    return invocation;
}

static void next_invocation(struct invocation *invocation) {
    invocation->frame = invocation->outer;
    if (invocation->cframe != 0)
        invocation->cframe = word_at(invocation->cframe, python.layout->cframe_outer);
    if (invocation->frame != 0)
        look_ahead(invocation);
}

/* Mixing */

struct mix {
    uintptr_t *addresses; /* innermost first */
    size_t count;
    size_t limit; /* one more shows that it was too many */
};

static void put(struct mix *mix, uintptr_t address) {
    if (address != 0 && mix->count <= mix->limit)
        mix->addresses[mix->count++] = address;
}

static void put_invocation(struct mix *mix, struct invocation *invocation) {
    uintptr_t frame = invocation->frame;
    for (uint32_t i = 0; i < invocation->count && mix->count <= mix->limit; i++) {
        put(mix, address_of(frame));
        frame = word_at(frame, python.layout->frame_outer);
    }
    next_invocation(invocation);
}

/* Does the machine's frame @i of @native run @invocation? */
static bool runs(const struct backtrace *native, uint32_t i,
                 const struct invocation *invocation) {
    if (invocation->frame == 0)
        return false;
    if (invocation->place != 0)
        return i == 0 || invocation->place < native->rsps[i - 1];
    return native->addresses[i] - 1 - python.loop_start < python.loop_end - python.loop_start;
}

bool python_mix(const struct backtrace *native, struct backtrace *ret_mixed,
                size_t depth_limit) {
    if (!native->walked)
        return false;
    struct invocation invocation = innermost_invocation();
    struct mix mix = {.addresses = ret_mixed->addresses + BACKTRACE_DEPTH_MAX,
                      .limit = depth_limit};
    if (invocation.frame == 0)
        return false;
    for (uint32_t i = native->depth_frames; i > 0 && mix.count <= mix.limit; i--) {
        bool goes_on = true;
        while (goes_on && runs(native, i - 1, &invocation)) {
            goes_on = invocation.place != 0; /* else one for each frame of the loop */
            put_invocation(&mix, &invocation);
        }
        put(&mix, native->addresses[i - 1]);
    }
    bool truncated = native->truncated || mix.count > depth_limit;
    while (!truncated && invocation.frame != 0 && mix.count <= mix.limit)
        put_invocation(&mix, &invocation);
    truncated |= mix.count > depth_limit;
    backtrace_set(ret_mixed, mix.addresses, mix.count > depth_limit ? depth_limit : mix.count,
                  truncated);
    return true;
}
