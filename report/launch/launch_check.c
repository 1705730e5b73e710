/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_check.c: where the shim is, and whether a program can be measured with it.
 *
 * The dynamic loader ignores LD_PRELOAD without a word for static programs, foreign
 * architectures and programs that gain privileges. Measuring nothing and calling it zero is the
 * worst answer, so each of these is refused before anything runs.
 */
#include "launch.h"

#include "config.h"
#include "elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPT_DEPTH_MAX 4 /* an interpreter may be a script itself, as the kernel allows */

static bool library_is_at(const char *folder, const char *relative, char ret_path[PATH_MAX]) {
    char path[2 * PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s/libvotrace.so", folder, relative);
    return realpath(path, ret_path) != NULL;
}

int launch_find_library(char ret_path[PATH_MAX], struct fault *fault) {
    const char *from_environment = getenv("VOTRACE_LIBRARY");
    if (from_environment && from_environment[0] != '\0') {
        if (realpath(from_environment, ret_path) && access(ret_path, R_OK) == 0)
            return 0;
        return fault_set(fault, -ENOENT, "VOTRACE_LIBRARY is %s: %s", from_environment,
                         strerror(errno));
    }
    char folder[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
    if (length <= 0)
        return fault_set(fault, -ENOENT,
                         "cannot tell where this votreport is (no /proc): set VOTRACE_LIBRARY "
                         "to the path of libvotrace.so");
    folder[length] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    if (library_is_at(folder, VOTRACE_PKGLIBDIR_FROM_BINDIR, ret_path) ||
        library_is_at(folder, "../preload", ret_path))
        return 0;
    return fault_set(fault, -ENOENT,
                     "libvotrace.so is neither in %s/%s nor in %s/../preload: set "
                     "VOTRACE_LIBRARY to its path",
                     folder, VOTRACE_PKGLIBDIR_FROM_BINDIR, folder);
}

/* 0 when @path can be executed, else a negative errno. */
static int executable_status(const char *path) {
    struct stat status;
    if (stat(path, &status) < 0)
        return -errno;
    if (S_ISDIR(status.st_mode))
        return -EISDIR;
    if (!S_ISREG(status.st_mode))
        return -EACCES;
    return access(path, X_OK) < 0 ? -errno : 0;
}

static int search_path(const char *program, char ret_path[PATH_MAX], struct fault *fault) {
    int worst = -ENOENT;
    const char *folders = getenv("PATH");
    if (!folders)
        folders = "/usr/local/bin:/usr/bin:/bin";
    if (strchr(program, '/'))
        folders = "";
    while (true) {
        char path[PATH_MAX];
        const char *end = strchrnul(folders, ':');
        int folder_length = (int)(end - folders);
        int length = folder_length == 0 ? snprintf(path, sizeof(path), "%s", program)
                                        : snprintf(path, sizeof(path), "%.*s/%s", folder_length,
                                                   folders, program);
        int r = length < (int)sizeof(path) ? executable_status(path) : -ENAMETOOLONG;
        if (r == 0 && realpath(path, ret_path)) {
            /* Not the resolved name: busybox and the like go by what they are called. */
            if (path[0] == '/')
                strcpy(ret_path, path);
            return 0;
        }
        if (r != -ENOENT && r != -ENOTDIR && worst == -ENOENT)
            worst = r;
        if (*end == '\0')
            break;
        folders = end + 1;
    }
    if (worst == -ENOENT)
        return fault_set(fault, worst, "there is no program of this name%s",
                         strchr(program, '/') ? "" : " in PATH");
    return fault_set(fault, worst, "it cannot be executed: %s", strerror(-worst));
}

struct head {
    unsigned char bytes[256];
    size_t size;
};

static int head_read(int fd, struct head *head) {
    ssize_t n = pread(fd, head->bytes, sizeof(head->bytes) - 1, 0);
    if (n < 0)
        return -errno;
    head->size = (size_t)n;
    head->bytes[head->size] = '\0';
    return 0;
}

/* The interpreter of a script's first line; false when it names none. */
static bool script_interpreter(const struct head *head, char ret_path[PATH_MAX]) {
    const char *line = (const char *)head->bytes + 2;
    line += strspn(line, " \t");
    size_t length = strcspn(line, " \t\r\n");
    if (length == 0)
        return false;
    memcpy(ret_path, line, length);
    ret_path[length] = '\0';
    return true;
}

/* Bits of an ELF header that the loader compares: class, byte order, machine. */
struct elf_kind {
    unsigned char class;
    unsigned char data;
    Elf64_Half machine;
};

static bool elf_kind_of(const struct head *head, struct elf_kind *ret) {
    const Elf64_Ehdr *header = (const void *)head->bytes;
    if (head->size < sizeof(Elf32_Ehdr) || memcmp(head->bytes, ELFMAG, SELFMAG) != 0)
        return false;
    /* e_machine lies at the same place in both classes. */
    *ret = (struct elf_kind){head->bytes[EI_CLASS], head->bytes[EI_DATA], header->e_machine};
    return true;
}

static int library_kind(const char *library, struct elf_kind *ret, struct fault *fault) {
    _Alignas(8) struct head head;
    int fd = open(library, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fault_set(fault, -errno, "%s: %s", library, strerror(errno));
    int r = head_read(fd, &head);
    close(fd);
    if (r < 0 || !elf_kind_of(&head, ret))
        return fault_set(fault, -ENOEXEC, "%s is not a shared library", library);
    return 0;
}

/* Does the file ask for a dynamic loader? Our own class only: others were refused before. */
static bool has_interpreter(int fd, const struct head *head) {
    const Elf64_Ehdr *elf64 = (const void *)head->bytes;
    const Elf32_Ehdr *elf32 = (const void *)head->bytes;
    bool wide = head->bytes[EI_CLASS] == ELFCLASS64;
    uint64_t offset = wide ? elf64->e_phoff : elf32->e_phoff;
    size_t count = wide ? elf64->e_phnum : elf32->e_phnum;
    size_t entry_bytes = wide ? elf64->e_phentsize : elf32->e_phentsize;
    for (size_t i = 0; i < count; i++) {
        uint32_t type; /* p_type comes first in both classes */
        if (pread(fd, &type, sizeof(type), (off_t)(offset + i * entry_bytes)) !=
            (ssize_t)sizeof(type))
            return false;
        if (type == PT_INTERP)
            return true;
    }
    return false;
}

static int privileges_check(int fd, struct fault *fault) {
    struct stat status;
    if (fstat(fd, &status) < 0)
        return fault_set(fault, -errno, "%s", strerror(errno));
    /* Root gains nothing by it and could measure; but an answer that depends on who asks would
     * pass here and fail in CI. */
    if (status.st_mode & S_ISUID || (status.st_mode & S_ISGID && status.st_mode & S_IXGRP))
        return fault_set(fault, -EPERM,
                         "it is set%cid, so the loader ignores LD_PRELOAD: measure a copy "
                         "without that bit",
                         status.st_mode & S_ISUID ? 'u' : 'g');
    if (fgetxattr(fd, "security.capability", NULL, 0) > 0)
        return fault_set(
            fault, -EPERM,
            "it has file capabilities, so the loader ignores LD_PRELOAD: measure a "
            "copy without them");
    return 0;
}

static int binary_check(int fd, const struct head *head, const char *library,
                        struct fault *fault) {
    struct elf_kind own = {0};
    struct elf_kind wanted = {0};
    int r = library_kind(library, &wanted, fault);
    if (r < 0)
        return r;
    if (!elf_kind_of(head, &own))
        return fault_set(fault, -ENOEXEC, "it is neither an ELF program nor a script with #!");
    if (own.class != wanted.class)
        return fault_set(fault, -ENOEXEC,
                         "it is a %s-bit program, libvotrace.so is not: use one built for it",
                         own.class == ELFCLASS32 ? "32" : "64");
    if (own.data != wanted.data || own.machine != wanted.machine)
        return fault_set(fault, -ENOEXEC,
                         "it is a program for another machine than libvotrace.so");
    if (!has_interpreter(fd, head))
        return fault_set(fault, -ENOEXEC,
                         "it is statically linked, so libvotrace.so cannot be loaded into it: "
                         "link it dynamically");
    return privileges_check(fd, fault);
}

/* What is executed in the end: @path, or a script's interpreter. -1 when it cannot be read. */
static int binary_open(const char *path, int depth) {
    _Alignas(8) struct head head;
    char interpreter[PATH_MAX];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || head_read(fd, &head) < 0 || head.size <= 2 ||
        memcmp(head.bytes, "#!", 2) != 0)
        return fd;
    close(fd);
    if (depth == 0 || !script_interpreter(&head, interpreter))
        return -1;
    return binary_open(interpreter, depth - 1);
}

bool launch_brings_malloc(const char *program) {
    int fd = binary_open(program, SCRIPT_DEPTH_MAX);
    if (fd < 0)
        return false;
    bool found = elf_file_defines_malloc(fd);
    close(fd);
    return found;
}

static int check_from(const char *path, const char *library, int depth, struct fault *fault) {
    _Alignas(8) struct head head;
    char interpreter[PATH_MAX];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    /* A program may be executable and not readable; then the loader is trusted to say no. */
    if (fd < 0)
        return errno == EACCES ? 0 : fault_set(fault, -errno, "%s", strerror(errno));
    int r = head_read(fd, &head);
    if (r < 0)
        fault_set(fault, r, "%s", strerror(-r));
    bool script = r == 0 && head.size > 2 && memcmp(head.bytes, "#!", 2) == 0;
    if (r == 0 && !script)
        r = binary_check(fd, &head, library, fault);
    close(fd);
    if (r < 0 || !script)
        return r;
    if (depth == 0 || !script_interpreter(&head, interpreter))
        return fault_set(fault, -ENOEXEC, "its #! line names no interpreter");
    r = executable_status(interpreter);
    if (r < 0)
        return fault_set(fault, r, "its interpreter %s cannot be executed: %s", interpreter,
                         strerror(-r));
    struct fault inner = {0};
    r = check_from(interpreter, library, depth - 1, &inner);
    if (r < 0)
        fault_set(fault, r, "its interpreter %s cannot be measured: %s", interpreter,
                  inner.text);
    return r;
}

int launch_check(const char *program, const char *library, char ret_path[PATH_MAX],
                 struct fault *fault) {
    char path[PATH_MAX];
    if (program[0] == '\0')
        return fault_set(fault, -ENOENT, "the name of the program is empty");
    int r = search_path(program, path, fault);
    if (r == 0)
        r = check_from(path, library, SCRIPT_DEPTH_MAX, fault);
    if (r == 0)
        strcpy(ret_path, path);
    return r;
}
