/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * revision.c: git is asked as a program, two short questions. Whatever goes wrong there (no git,
 * no repository, one of another owner) is an answer that is not known, never a failure.
 */
#include "revision.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Who runs jobs, and by which variables it says for what; the first branch that is there. */
static const struct {
    const char *commit;
    const char *branches[2];
} services[] = {
    {"GITHUB_SHA", {"GITHUB_HEAD_REF", "GITHUB_REF_NAME"}},
    {"CI_COMMIT_SHA", {"CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_REF_NAME"}},
    {"BUILDKITE_COMMIT", {"BUILDKITE_BRANCH", NULL}},
    {"CIRCLE_SHA1", {"CIRCLE_BRANCH", NULL}},
    {"BUILD_SOURCEVERSION", {"BUILD_SOURCEBRANCHNAME", NULL}},
    {"BITBUCKET_COMMIT", {"BITBUCKET_BRANCH", NULL}},
    {"DRONE_COMMIT_SHA", {"DRONE_BRANCH", NULL}},
    {"TRAVIS_COMMIT", {"TRAVIS_BRANCH", NULL}},
    {"GIT_COMMIT", {"GIT_BRANCH", NULL}},
};

static const char *variable(const char *name) {
    const char *value = name ? getenv(name) : NULL;
    return value ? value : "";
}

static pid_t git_start(const char *const *arguments, int output) {
    posix_spawn_file_actions_t actions;
    pid_t pid;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    int r = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (r == 0)
        r = posix_spawnp(&pid, "git", &actions, NULL, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return r == 0 ? pid : -1;
}

/* What git prints; NULL when it fails or there is no memory. free() it. */
static char *git_ask(const char *const *arguments) {
    int ends[2];
    char *text = NULL;
    size_t room = 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;
    pid_t pid = git_start(arguments, ends[1]);
    close(ends[1]);
    FILE *stream = pid > 0 ? fdopen(ends[0], "re") : NULL;
    if (!stream)
        close(ends[0]);
    ssize_t length = stream ? getdelim(&text, &room, '\0', stream) : -1;
    if (stream)
        fclose(stream);
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (length > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return text;
    free(text);
    return NULL;
}

/* The rest of the line of @text that begins with @key; NULL when there is none. free() it. */
static char *line_after(const char *text, const char *key) {
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, strlen(key)) == 0)
            return strndup(line + strlen(key), strcspn(line + strlen(key), "\n"));
    }
    return NULL;
}

static bool has_change(const char *status) {
    for (const char *line = status; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line != '#' && *line != '\0')
            return true;
    }
    return false;
}

/* Its full name and time. False when git does not know @commit. */
static bool commit_look_up(const char *commit, char **ret_commit, int64_t *ret_time_ns) {
    char *name;
    if (asprintf(&name, "%s^{commit}", commit) < 0)
        return false;
    const char *const arguments[] = {
        "git", "show", "--no-patch", "--format=%H %ct", "--end-of-options", name, NULL};
    char *text = git_ask(arguments);
    free(name);
    char *space = text ? strchr(text, ' ') : NULL;
    if (!space) {
        free(text);
        return false;
    }
    *space = '\0';
    *ret_time_ns = strtoll(space + 1, NULL, 10) * 1000000000;
    *ret_commit = text;
    return true;
}

/* What the current folder's repository has checked out. All NULL without one. */
struct checkout {
    char *commit;
    char *branch; /* NULL: none */
    bool dirty;
};

static void checkout_look(struct checkout *ret) {
    /* No lock taken, no monitor of the repository's started: looking changes nothing. */
    const char *const arguments[] = {
        "git",    "--no-optional-locks", "-c",       "core.fsmonitor=false",
        "status", "--porcelain=v2",      "--branch", "--untracked-files=no",
        NULL};
    char *text = git_ask(arguments);
    *ret = (struct checkout){0};
    if (!text)
        return;
    ret->commit = line_after(text, "# branch.oid ");
    ret->branch = line_after(text, "# branch.head ");
    ret->dirty = has_change(text);
    if (ret->commit && ret->commit[0] == '(') { /* (initial) */
        free(ret->commit);
        ret->commit = NULL;
    }
    if (ret->branch && ret->branch[0] == '(') { /* (detached) */
        free(ret->branch);
        ret->branch = NULL;
    }
    free(text);
}

static void take(char **to, const char *text) {
    if (*to)
        return;
    *to = strdup(text);
}

/* The branch of the service whose job is for @commit; any commit will do when it is "". */
static const char *service_branch(const char *commit) {
    for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
        const char *own = variable(services[i].commit);
        if (own[0] == '\0' || (commit[0] != '\0' && strcmp(own, commit) != 0))
            continue;
        const char *first = variable(services[i].branches[0]);
        return first[0] != '\0' ? first : variable(services[i].branches[1]);
    }
    return "";
}

static const char *service_commit(void) {
    for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++)
        if (variable(services[i].commit)[0] != '\0')
            return variable(services[i].commit);
    return "";
}

int revision_find(const char *commit, const char *branch, struct revision *ret_revision) {
    struct revision revision = {0};
    struct checkout checkout;
    checkout_look(&checkout);
    const char *wanted = commit ? commit : checkout.commit ? checkout.commit : service_commit();
    if (wanted[0] != '\0' &&
        !commit_look_up(wanted, &revision.commit, &revision.commit_time_ns))
        take(&revision.commit, wanted);
    take(&revision.commit, "");
    bool is_here =
        revision.commit && checkout.commit && strcmp(revision.commit, checkout.commit) == 0;
    if (is_here)
        revision.tree = checkout.dirty ? ORIGIN_TREE_DIRTY : ORIGIN_TREE_CLEAN;
    if (branch)
        take(&revision.branch, branch);
    else if (is_here && checkout.branch)
        take(&revision.branch, checkout.branch);
    else if (revision.commit)
        take(&revision.branch, service_branch(revision.commit));
    free(checkout.commit);
    free(checkout.branch);
    if (!revision.commit || !revision.branch) {
        revision_finish(&revision);
        return -ENOMEM;
    }
    *ret_revision = revision;
    return 0;
}

void revision_finish(struct revision *revision) {
    free(revision->commit);
    free(revision->branch);
    *revision = (struct revision){0};
}
