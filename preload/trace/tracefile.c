/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracefile.c: create, grow, refuse, finish.
 *
 *     file     | header | chunks ...        | chunks ...          |
 *     mapped   [ first extent               ][ second extent      ]   wherever the kernel likes
 *
 * The descriptor is closed as soon as an extent is mapped: daemons close all they find, and the
 * program's next open() must get the number it expects. Growing opens the path again and checks
 * that it is the same file. Space is allocated before it is mapped, so that a full disk is an
 * error code here and never SIGBUS later; RLIMIT_FSIZE is asked first, because crossing it is a
 * signal. All system calls are raw: libc's wrappers are cancellation points and may be
 * interposed.
 *
 * Inside a sandbox (`sealed`) even these may be the program's end: what the file has no room for
 * goes to memory, and is lost with the process. So stacks, without which all can be counted,
 * have to leave room for what counts.
 */
#include "tracefile.h"

#include "sysmem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_EXTENT_BYTES   (UINT64_C(256) << 10)
#define LARGEST_EXTENT_BYTES (UINT64_C(4) << 20)
#define TEXT_BYTES_MAX       ((size_t)128 << 10)
#define NAME_TRIES           1000

static int raw_open(const char *path, int flags) {
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOCTTY, 0644);
}

static void raw_close(int fd) {
    syscall(SYS_close, fd);
}

static bool raw_write(int fd, const void *bytes, uint64_t count, uint64_t offset) {
    const unsigned char *from = bytes;
    while (count > 0) {
        long written = syscall(SYS_pwrite64, fd, from, count, offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        from += written;
        offset += (uint64_t)written;
        count -= (uint64_t)written;
    }
    return true;
}

/* Crossing RLIMIT_FSIZE sends SIGXFSZ, which would kill the program: ask first. */
static bool size_allowed(uint64_t file_bytes) {
    struct rlimit limit;
    if (syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) != 0)
        return true;
    return limit.rlim_cur == RLIM_INFINITY || file_bytes <= limit.rlim_cur;
}

/*
 * Make [offset, offset + bytes) of the file real, so that storing to its mapping cannot fail.
 */
static bool allocate(int fd, uint64_t offset, uint64_t bytes) {
    static const unsigned char zeros[4096];

    if (!size_allowed(offset + bytes))
        return false;
    long r;
    do
        r = syscall(SYS_fallocate, fd, 0, offset, bytes);
    while (r != 0 && errno == EINTR);
    if (r == 0)
        return true;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return false;

    /*
     * A file system without fallocate: zeros do the same. Only beyond the end, never over data.
     */
    struct stat status;
    if (syscall(SYS_fstat, fd, &status) != 0)
        return false;
    for (uint64_t at = (uint64_t)status.st_size; at < offset + bytes; at += sizeof(zeros)) {
        uint64_t left = offset + bytes - at;
        if (!raw_write(fd, zeros, left < sizeof(zeros) ? left : sizeof(zeros), at))
            return false;
    }
    return true;
}

static unsigned char *map_file(int fd, uint64_t offset, uint64_t bytes) {
    long address =
        syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    return address == -1 ? NULL : (unsigned char *)(uintptr_t)address;
}

static uint64_t page_bytes(void) {
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

int tracefile_expand(const char *pattern, const char *program, unsigned pid,
                     char ret_path[PATH_MAX]) {
    char path[PATH_MAX];
    size_t length = 0;

    if (pattern[0] != '/') {
        /* The kernel's getcwd counts the terminator; "(unreachable)" does not begin with /. */
        long got = syscall(SYS_getcwd, path, sizeof(path) - 1);
        if (got <= 0 || path[0] != '/')
            return -ENAMETOOLONG;
        length = (size_t)got - 1;
        path[length++] = '/';
    }
    for (const char *c = pattern; *c != '\0'; c++) {
        char number[16];
        const char *piece = number;
        if (*c != '%') {
            number[0] = *c;
            number[1] = '\0';
        } else if (*++c == 'e') {
            piece = program;
        } else if (*c == 'p') {
            snprintf(number, sizeof(number), "%u", pid);
        } else if (*c == '%') {
            number[0] = '%';
            number[1] = '\0';
        } else {
            return -EINVAL;
        }
        size_t piece_length = strlen(piece);
        if (length + piece_length >= sizeof(path))
            return -ENAMETOOLONG;
        memcpy(path + length, piece, piece_length);
        length += piece_length;
    }
    path[length] = '\0';
    memcpy(ret_path, path, length + 1);
    return 0;
}

/* Create the file under @path or the first free name after it, which is left in file->path. */
static int create(struct tracefile *file, const char *path) {
    size_t length = strlen(path);
    if (length + sizeof(".1000") > sizeof(file->path))
        return -1;
    memmove(file->path, path, length + 1);
    for (int i = 2; i <= NAME_TRIES; i++) {
        int fd = raw_open(file->path, O_RDWR | O_CREAT | O_EXCL);
        if (fd >= 0 || errno != EEXIST)
            return fd;
        snprintf(file->path + length, sizeof(".1000"), ".%d", i);
    }
    return -1;
}

static void write_header(struct trace_header *header) {
    memcpy(header->magic, TRACE_MAGIC, sizeof(header->magic));
    header->version = TRACE_VERSION;
    header->header_bytes = TRACE_HEADER_BYTES;
    header->byte_order = TRACE_BYTE_ORDER;
    header->state = TRACE_STARTING;
    header->used_bytes = TRACE_HEADER_BYTES;
    header->page_bytes = (uint32_t)page_bytes();
}

/*
 * A process may be killed at any time: the file is empty or has its header, and is never merely
 * large.
 */
static bool put_header(int fd) {
    static union {
        struct trace_header header;
        unsigned char bytes[TRACE_HEADER_BYTES];
    } first;
    write_header(&first.header);
    return size_allowed(sizeof(first)) && raw_write(fd, &first, sizeof(first), 0);
}

static bool open_in_file(struct tracefile *file, const char *path) {
    int fd = create(file, path);
    if (fd < 0)
        return false;

    struct stat status;
    unsigned char *mapped = NULL;
    if (put_header(fd) && syscall(SYS_fstat, fd, &status) == 0 &&
        allocate(fd, 0, FIRST_EXTENT_BYTES))
        mapped = map_file(fd, 0, FIRST_EXTENT_BYTES);
    raw_close(fd);
    if (mapped == NULL) {
        /* Nothing of it is ours to keep; tracefile_finish() may create it anew. */
        syscall(SYS_unlinkat, AT_FDCWD, file->path, 0);
        return false;
    }
    file->device = status.st_dev;
    file->inode = status.st_ino;
    file->place = mapped;
    return true;
}

int tracefile_open(struct tracefile *file, const char *path) {
    int saved_errno = errno;
    *file = (struct tracefile){.extent_bytes = FIRST_EXTENT_BYTES};

    file->file_exists = path != NULL && open_in_file(file, path);
    if (!file->file_exists) {
        file->place = sysmem_map(FIRST_EXTENT_BYTES);
        if (file->place == NULL)
            return -ENOMEM;
        file->spilling = true;
        file->spills[file->spill_count++] = (struct tracefile_spill){.memory = file->place};
    }
    file->header = (struct trace_header *)(void *)file->place;
    file->place += TRACE_HEADER_BYTES;
    file->left_bytes = FIRST_EXTENT_BYTES - TRACE_HEADER_BYTES;
    file->end_offset = TRACE_HEADER_BYTES;
    if (file->spilling) {
        write_header(file->header);
        file->spills[0].bytes = TRACE_HEADER_BYTES;
        file->header->completeness.file_refused = 1;
    }
    errno = saved_errno;
    return 0;
}

/* Open the file that is mapped, if the path still leads to it. */
static int reopen(const struct tracefile *file) {
    int fd = raw_open(file->path, O_RDWR);
    if (fd < 0)
        return -1;
    struct stat status;
    if (syscall(SYS_fstat, fd, &status) == 0 && status.st_dev == file->device &&
        status.st_ino == file->inode)
        return fd;
    raw_close(fd);
    return -1;
}

/*
 * The next extent begins in the page where the last one ends; shared mappings see each other.
 */
static bool grow_in_file(struct tracefile *file) {
    uint64_t offset = file->end_offset & ~(page_bytes() - 1);
    int fd = reopen(file);
    if (fd < 0)
        return false;
    unsigned char *mapped = NULL;
    if (allocate(fd, offset, file->extent_bytes))
        mapped = map_file(fd, offset, file->extent_bytes);
    raw_close(fd);
    if (mapped == NULL)
        return false;
    file->place = mapped + (file->end_offset - offset);
    file->left_bytes = file->extent_bytes - (file->end_offset - offset);
    return true;
}

static bool grow_in_memory(struct tracefile *file) {
    if (file->spill_count == TRACEFILE_SPILLS)
        return false;
    unsigned char *memory = sysmem_map(file->extent_bytes);
    if (memory == NULL)
        return false;
    file->spilling = true;
    file->header->completeness.file_refused++;
    file->spills[file->spill_count++] =
        (struct tracefile_spill){.memory = memory, .offset = file->end_offset};
    file->place = memory;
    file->left_bytes = file->extent_bytes;
    return true;
}

static bool grow(struct tracefile *file) {
    int saved_errno = errno;
    bool grown =
        (!file->spilling && !file->sealed && grow_in_file(file)) || grow_in_memory(file);
    errno = saved_errno;
    if (grown && file->extent_bytes < LARGEST_EXTENT_BYTES)
        file->extent_bytes *= 2;
    return grown;
}

bool tracefile_make_room(struct tracefile *file, uint64_t bytes) {
    if (file->spilling || file->sealed || file->left_bytes >= bytes)
        return file->left_bytes >= bytes;
    int saved_errno = errno;
    uint64_t usual_bytes = file->extent_bytes;
    bool grown = false;
    /* The first page is the one that the last extent ends in. */
    file->extent_bytes = bytes + page_bytes();
    while (!grown && file->extent_bytes >= file->left_bytes + page_bytes()) {
        grown = grow_in_file(file);
        file->extent_bytes = file->extent_bytes / 2 & ~(page_bytes() - 1);
    }
    file->extent_bytes = usual_bytes;
    errno = saved_errno;
    return file->left_bytes >= bytes;
}

void tracefile_seal(struct tracefile *file, bool sealed) {
    if (sealed && !file->sealed)
        file->kept_bytes = file->left_bytes / 2;
    file->sealed = sealed;
}

static bool has_to_leave_room(const struct tracefile *file, enum trace_chunk_kind kind,
                              uint64_t bytes) {
    return file->sealed && (kind == TRACE_CHUNK_NODES || kind == TRACE_CHUNK_SITES) &&
           (file->spilling || bytes + file->kept_bytes > file->left_bytes);
}

void *tracefile_chunk(struct tracefile *file, enum trace_chunk_kind kind,
                      struct tracefile_ids ids, size_t payload_bytes) {
    uint64_t bytes = (sizeof(struct trace_chunk) + payload_bytes + TRACE_CHUNK_ALIGN - 1) &
                     ~(uint64_t)(TRACE_CHUNK_ALIGN - 1);
    if (has_to_leave_room(file, kind, bytes))
        return NULL;
    if (bytes > file->left_bytes && (!grow(file) || bytes > file->left_bytes))
        return NULL;

    struct trace_chunk *chunk = (struct trace_chunk *)(void *)file->place;
    *chunk = (struct trace_chunk){
        .magic = TRACE_CHUNK_MAGIC,
        .kind = kind,
        .bytes = bytes,
        .first = ids.first,
        .lane = ids.lane,
        .count = ids.count,
        .owner = ids.owner,
    };
    file->place += bytes;
    file->left_bytes -= bytes;
    file->end_offset += bytes;
    if (file->spilling) {
        file->spills[file->spill_count - 1].bytes += bytes;
    } else {
        /* The chunk is whole before it counts. */
        __atomic_store_n(&file->header->used_bytes, file->end_offset, __ATOMIC_RELEASE);
    }
    return chunk + 1;
}

void tracefile_text(struct tracefile *file, enum trace_text what, const char *text,
                    size_t bytes) {
    if (bytes > TEXT_BYTES_MAX)
        bytes = TEXT_BYTES_MAX;
    char *payload =
        tracefile_chunk(file, TRACE_CHUNK_TEXT,
                        (struct tracefile_ids){.first = what, .count = (uint32_t)bytes}, bytes);
    if (payload != NULL)
        memcpy(payload, text, bytes);
}

static bool write_spills(const struct tracefile *file, int fd) {
    for (unsigned i = 0; i < file->spill_count; i++) {
        const struct tracefile_spill *spill = &file->spills[i];
        if (!size_allowed(spill->offset + spill->bytes) ||
            !raw_write(fd, spill->memory, spill->bytes, spill->offset))
            return false;
    }
    return true;
}

/* The header is in the file: it counts the chunks once they are there. */
static bool complete_file(struct tracefile *file) {
    int fd = reopen(file);
    if (fd < 0)
        return false;
    bool written = write_spills(file, fd);
    if (written)
        __atomic_store_n(&file->header->used_bytes, file->end_offset, __ATOMIC_RELEASE);
    raw_close(fd);
    return written;
}

/* The header is in memory, too. */
static bool write_file(struct tracefile *file) {
    int fd = create(file, file->path);
    if (fd < 0)
        return false;
    file->header->used_bytes = file->end_offset;
    bool written = write_spills(file, fd);
    if (!written)
        syscall(SYS_unlinkat, AT_FDCWD, file->path, 0);
    raw_close(fd);
    return written;
}

bool tracefile_finish(struct tracefile *file) {
    if (!file->spilling)
        return true;
    if (file->path[0] == '\0' || file->sealed)
        return false;
    int saved_errno = errno;
    bool whole = file->file_exists ? complete_file(file) : write_file(file);
    errno = saved_errno;
    return whole;
}

void tracefile_unfinish(struct tracefile *file) {
    if (!file->spilling || file->path[0] == '\0' || file->sealed)
        return;
    int saved_errno = errno;
    if (file->file_exists)
        __atomic_store_n(&file->header->used_bytes, file->spills[0].offset, __ATOMIC_RELEASE);
    else
        syscall(SYS_unlinkat, AT_FDCWD, file->path, 0);
    errno = saved_errno;
}
