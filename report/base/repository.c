/* SPDX-License-Identifier: BSD-3-Clause */
/* repository.c: looks at the file system, and starts no git. */
#include "repository.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void repository_find(char ret_root[PATH_MAX]) {
    struct stat info;
    if (!getcwd(ret_root, PATH_MAX)) {
        ret_root[0] = '\0';
        return;
    }
    while (ret_root[0] != '\0') {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof(path), "%s/.git", ret_root);
        if (length < (int)sizeof(path) && stat(path, &info) == 0)
            return;
        *strrchr(ret_root, '/') = '\0';
    }
}

static bool is_file_in(const char *root, const char *path) {
    struct stat info;
    char full[PATH_MAX];
    int length = snprintf(full, sizeof(full), "%s/%s", root, path);
    return length < (int)sizeof(full) && stat(full, &info) == 0 && S_ISREG(info.st_mode);
}

/* "..", as a whole component, would lead out of the repository. */
static bool leads_upwards(const char *path) {
    for (const char *at = path; *at != '\0'; at += strcspn(at, "/"), at += *at == '/')
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return true;
    return false;
}

bool repository_path(const char *root, const char *path, char ret_path[PATH_MAX]) {
    size_t root_length = strlen(root);
    if (root_length == 0 || path[0] == '\0' || strlen(path) >= PATH_MAX)
        return false;
    if (strncmp(path, root, root_length) == 0 && path[root_length] == '/' &&
        is_file_in(root, path + root_length + 1) && !leads_upwards(path)) {
        strcpy(ret_path, path + root_length + 1);
        return true;
    }
    for (const char *end = path; end; end = strchr(end, '/')) {
        end += strspn(end, "/");
        if (*end != '\0' && !leads_upwards(end) && is_file_in(root, end)) {
            strcpy(ret_path, end);
            return true;
        }
        if (*end == '\0')
            break;
    }
    return false;
}
