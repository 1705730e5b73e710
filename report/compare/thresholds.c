/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thresholds.c: a line becomes words, the first word says what the others are.
 *
 * The file comes with a pull request, so from anybody: sizes are limited, numbers are checked,
 * and every mistake is told with its line.
 */
#include "thresholds.h"

#include "glob.h"
#include "infile.h"
#include "sizes.h"
#include "textstream.h"
#include "vector.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS_MAX 12

/* One line, cut into words in a buffer of its own. */
struct words {
    char text[THRESHOLDS_LINE_MAX + 1];
    char *at[WORDS_MAX];
    size_t count;
};

struct parser {
    struct arena arena;
    struct vector rules; /* struct thresholds_rule */
    struct words words;
    struct fault *fault;
};

static int wrong(struct parser *p, const char *what) {
    return fault_set(p->fault, -EINVAL, "%s", what);
}

/* A word at *@text, which is moved behind it; @into is where it goes. */
static int word_take(struct parser *p, const char **text, char **into) {
    const char *at = *text;
    bool quoted = *at == '"';
    at += quoted;
    while (*at != '\0' && (quoted ? *at != '"' : *at != ' ' && *at != '\t')) {
        if (quoted && *at == '\\' && (at[1] == '"' || at[1] == '\\'))
            at++;
        else if (!quoted && *at == '"')
            return wrong(p, "a quote stands inside a word: the whole word must be quoted");
        *(*into)++ = *at++;
    }
    if (quoted && *at != '"')
        return wrong(p, "a quote is not closed");
    at += quoted;
    if (*at != '\0' && *at != ' ' && *at != '\t')
        return wrong(p, "something follows a quote without a blank");
    *(*into)++ = '\0';
    *text = at;
    return 0;
}

static int words_cut(struct parser *p, const char *line) {
    char *into = p->words.text;
    p->words.count = 0;
    while (true) {
        line += strspn(line, " \t");
        if (*line == '\0' || *line == '#')
            return 0;
        if (p->words.count == WORDS_MAX)
            return wrong(p, "there are too many words: text with blanks must be quoted");
        p->words.at[p->words.count++] = into;
        int r = word_take(p, &line, &into);
        if (r < 0)
            return r;
    }
}

static int ratio_take(struct parser *p, const char *text, struct thresholds_rule *rule) {
    char *end;
    double ratio = strtod(text, &end);
    bool is_decimal = text[0] != '.' && text[strspn(text, "0123456789.")] == '\0';
    if (!is_decimal || end == text || *end != '\0' || !isfinite(ratio) || ratio < 1.0)
        return fault_set(p->fault, -EINVAL, "a ratio is a number from 1, not '%.100s'", text);
    rule->max_ratio = ratio;
    return 0;
}

/* "5ms", "1.5 s": as nanoseconds. */
static bool time_parse(const char *text, int64_t *ret_ns) {
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    size_t digits = strspn(text, "0123456789.");
    if (!isdigit((unsigned char)text[0]))
        return false;
    double number = strtod(text, &end);
    if (end != text + digits) /* 1e5, 0x5: not what people write */
        return false;
    end += strspn(end, " ");
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].unit) != 0 || number * units[i].ns >= 9.2e18)
            continue;
        *ret_ns = (int64_t)(number * units[i].ns);
        return true;
    }
    return false;
}

static bool count_parse(const char *text, int64_t *ret_count) {
    char *end;
    errno = 0;
    long long count = strtoll(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0)
        return false;
    *ret_count = count;
    return true;
}

static int added_take(struct parser *p, const char *text, struct thresholds_rule *rule) {
    static const char *const examples[] = {
        [METRIC_BYTES] = "a size like 64KiB",
        [METRIC_BLOCKS] = "a whole number",
        [METRIC_NS] = "a time like 5ms",
    };
    enum metric_unit unit = metric_facts[rule->metric].unit;
    bool ok = unit == METRIC_BYTES    ? sizes_parse(text, &rule->max_added) == 0
              : unit == METRIC_BLOCKS ? count_parse(text, &rule->max_added)
                                      : time_parse(text, &rule->max_added);
    if (!ok)
        return fault_set(p->fault, -EINVAL, "what %s may add is %s, not '%.100s'",
                         metric_facts[rule->metric].name, examples[unit], text);
    return 0;
}

static int day_take(struct parser *p, const char *text, struct thresholds_rule *rule) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day, length = 0;
    bool ok = strlen(text) == THRESHOLDS_DAY_BYTES - 1 && isdigit((unsigned char)text[0]) &&
              sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &length) == 3 &&
              length == THRESHOLDS_DAY_BYTES - 1 && text[5] != '+' && text[8] != '+' &&
              text[5] != '-' && text[8] != '-' && month >= 1 && month <= 12 && day >= 1;
    if (ok) {
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        ok = day <= days[month - 1] + (month == 2 && leap);
    }
    if (!ok)
        return fault_set(p->fault, -EINVAL, "a day is written like 2027-03-31, not '%.100s'",
                         text);
    memcpy(rule->until, text, THRESHOLDS_DAY_BYTES);
    return 0;
}

static int reason_take(struct parser *p, const char *text, struct thresholds_rule *rule) {
    if (text[strspn(text, " \t")] == '\0')
        return wrong(p, "the reason of an allowance is empty");
    rule->reason = arena_text(&p->arena, text, strlen(text));
    return rule->reason ? 0 : fault_set(p->fault, -ENOMEM, "out of memory");
}

static const struct key {
    const char *name;
    bool of_allow; /* an allow line has it */
    bool of_limit;
    int (*take)(struct parser *p, const char *text, struct thresholds_rule *rule);
} keys[] = {
    {"ratio", false, true, ratio_take},
    {"added", true, true, added_take},
    {"until", true, false, day_take},
    {"because", true, false, reason_take},
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

static const struct key *key_find(const char *name, bool of_allow) {
    for (size_t i = 0; i < KEYS; i++)
        if (strcmp(keys[i].name, name) == 0 && (of_allow ? keys[i].of_allow : keys[i].of_limit))
            return &keys[i];
    return NULL;
}

/* What follows the metric: pairs of a key and its value. */
static int pairs_take(struct parser *p, struct thresholds_rule *rule) {
    bool seen[KEYS] = {0};
    bool of_allow = rule->kind == THRESHOLDS_ALLOW;
    for (size_t i = 3; i < p->words.count; i += 2) {
        const struct key *key = key_find(p->words.at[i], of_allow);
        if (!key)
            return fault_set(p->fault, -EINVAL, "'%.100s' is not known here: %s",
                             p->words.at[i],
                             of_allow ? "it takes added, until and because"
                                      : "it takes ratio and added, or off");
        if (i + 1 == p->words.count)
            return fault_set(p->fault, -EINVAL, "a value is missing after '%s'", key->name);
        if (seen[key - keys])
            return fault_set(p->fault, -EINVAL, "'%s' stands twice", key->name);
        seen[key - keys] = true;
        int r = key->take(p, p->words.at[i + 1], rule);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; of_allow && i < KEYS; i++)
        if (keys[i].of_allow && !seen[i])
            return fault_set(p->fault, -EINVAL,
                             "'%s' is missing: an allowance needs added, until and because",
                             keys[i].name);
    if (p->words.count == 3)
        return wrong(p, "how much? ratio, added, or off");
    return 0;
}

static int kind_take(struct parser *p, const char *word, enum thresholds_kind *ret_kind) {
    static const char *const names[] = {"limit", "drift", "allow"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(word, names[i]) == 0) {
            *ret_kind = (enum thresholds_kind)i;
            return 0;
        }
    }
    return fault_set(p->fault, -EINVAL,
                     "a line begins with limit, drift or allow, not '%.100s'", word);
}

static int rule_take(struct parser *p, struct thresholds_rule *rule) {
    const struct words *words = &p->words;
    int r = kind_take(p, words->at[0], &rule->kind);
    if (r < 0)
        return r;
    if (words->count < 3)
        return wrong(p, "which benchmark, and which metric?");
    if (metric_parse(words->at[2], &rule->metric) < 0)
        return fault_set(p->fault, -EINVAL, "a metric is %s, not '%.100s'", metric_names(),
                         words->at[2]);
    rule->pattern = arena_text(&p->arena, words->at[1], strlen(words->at[1]));
    if (!rule->pattern)
        return fault_set(p->fault, -ENOMEM, "out of memory");
    rule->max_ratio = 1;
    if (words->count == 4 && strcmp(words->at[3], "off") == 0 &&
        rule->kind != THRESHOLDS_ALLOW) {
        rule->off = true;
        return 0;
    }
    return pairs_take(p, rule);
}

static int line_take(struct parser *p, const char *line, size_t length, uint64_t lineno) {
    char text[THRESHOLDS_LINE_MAX + 1];
    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (length > THRESHOLDS_LINE_MAX)
        return fault_set(p->fault, -EINVAL, "the line is longer than %d bytes",
                         THRESHOLDS_LINE_MAX);
    if (memchr(line, '\0', length))
        return wrong(p, "there is a NUL byte: this is no text");
    memcpy(text, line, length);
    text[length] = '\0';
    int r = words_cut(p, text);
    if (r < 0 || p->words.count == 0)
        return r;
    struct thresholds_rule rule = {.lineno = lineno};
    r = rule_take(p, &rule);
    if (r < 0)
        return r;
    if (p->rules.count == THRESHOLDS_RULES_MAX)
        return fault_set(p->fault, -E2BIG, "there are more than %d lines",
                         THRESHOLDS_RULES_MAX);
    struct thresholds_rule *kept = vector_add(&p->rules);
    if (!kept)
        return fault_set(p->fault, -ENOMEM, "out of memory");
    *kept = rule;
    return 0;
}

int thresholds_parse(const char *text, size_t length, struct thresholds *ret_thresholds,
                     uint64_t *ret_lineno, struct fault *fault) {
    struct parser *p = calloc(1, sizeof(*p));
    int r = 0;
    uint64_t lineno = 0;
    *ret_lineno = 0;
    if (!p)
        return fault_set(fault, -ENOMEM, "out of memory");
    p->rules = VECTOR_OF(struct thresholds_rule);
    p->fault = fault;
    if (length > THRESHOLDS_FILE_MAX)
        r = fault_set(fault, -E2BIG, "it is larger than %d bytes", THRESHOLDS_FILE_MAX);
    for (const char *at = text; r == 0 && at < text + length;) {
        const char *newline = memchr(at, '\n', (size_t)(text + length - at));
        const char *end = newline ? newline : text + length;
        r = line_take(p, at, (size_t)(end - at), ++lineno);
        at = end + 1;
    }
    if (r < 0) {
        *ret_lineno = lineno;
        vector_finish(&p->rules);
        arena_finish(&p->arena);
    } else {
        *ret_thresholds = (struct thresholds){p->arena, p->rules.items, p->rules.count};
    }
    free(p);
    return r;
}

int thresholds_read(const char *path, struct thresholds *ret_thresholds, uint64_t *ret_lineno,
                    struct fault *fault) {
    size_t length = 0;
    *ret_lineno = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fault_set(fault, -errno, "it cannot be read: %s", strerror(errno));
    /* At most one byte more than is allowed, so that a device cannot fill the memory. */
    char *text = malloc(THRESHOLDS_FILE_MAX + 1);
    int r = text ? infile_take(fd, text, THRESHOLDS_FILE_MAX + 1, &length) : -ENOMEM;
    close(fd);
    if (r < 0)
        fault_set(fault, r, "it cannot be read: %s", strerror(-r));
    else
        r = thresholds_parse(text, length, ret_thresholds, ret_lineno, fault);
    free(text);
    return r;
}

/* Any of the four ways to call it. Without memory nothing matches, and the default counts. */
static bool pattern_matches(const char *pattern, const struct run *run, const char *region) {
    bool matches = glob_matches(pattern, run->benchmark);
    for (int form = 0; !matches && form < 3; form++) {
        struct textstream text;
        FILE *stream = textstream_begin(&text);
        if (!stream)
            return false;
        fputs(run->benchmark, stream);
        if (form > 0)
            fprintf(stream, ":%s", region);
        if (form != 1)
            run_params_write(stream, run->params, run->param_count);
        char *called = textstream_take(&text);
        matches = called && glob_matches(pattern, called);
        free(called);
    }
    return matches;
}

const struct thresholds_rule *thresholds_find(const struct thresholds *thresholds,
                                              enum thresholds_kind kind, enum metric metric,
                                              const struct run *run, const char *region) {
    for (size_t i = thresholds->count; i-- > 0;) {
        const struct thresholds_rule *rule = &thresholds->rules[i];
        if (rule->kind == kind && rule->metric == metric &&
            pattern_matches(rule->pattern, run, region))
            return rule;
    }
    return NULL;
}

bool thresholds_is_over(const struct thresholds_rule *rule, const char *today) {
    return strcmp(rule->until, today) < 0;
}

const struct thresholds_rule *thresholds_find_allowance(const struct thresholds *thresholds,
                                                        enum metric metric,
                                                        const struct run *run,
                                                        const char *region, int64_t added,
                                                        const char *today) {
    const struct thresholds_rule *ended = NULL;
    for (size_t i = thresholds->count; i-- > 0;) {
        const struct thresholds_rule *rule = &thresholds->rules[i];
        if (rule->kind != THRESHOLDS_ALLOW || rule->metric != metric ||
            added > rule->max_added || !pattern_matches(rule->pattern, run, region))
            continue;
        if (!thresholds_is_over(rule, today))
            return rule;
        if (!ended)
            ended = rule;
    }
    return ended;
}

bool thresholds_have(const struct thresholds *thresholds, enum metric metric) {
    for (size_t i = 0; i < thresholds->count; i++)
        if (thresholds->rules[i].metric == metric && !thresholds->rules[i].off &&
            thresholds->rules[i].kind != THRESHOLDS_ALLOW)
            return true;
    return false;
}

void thresholds_finish(struct thresholds *thresholds) {
    free(thresholds->rules);
    arena_finish(&thresholds->arena);
    *thresholds = (struct thresholds){0};
}
