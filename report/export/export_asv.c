/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export_asv.c: the three files of airspeed velocity (asv), as results.py, benchmarks.py and
 * machine.py of its version 0.6 read them.
 *
 * A benchmark of asv is one of ours without its parameters; its results are a list over the
 * product of all values that each parameter has, the last parameter fastest, null where there
 * is no run. Values are written as Python would (repr()), as asv does.
 */
#include "export_formats.h"
#include "json.h"
#include "render.h"
#include "vector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RESULTS_MAX 100000 /* combinations of one benchmark's parameters */
#define NS_PER_MS   1000000
#define ASV_VERSION 2           /* of results.json and benchmarks.json */
#define ASV_MACHINE 1           /* of machine.json */
#define OUR_VERSION "votrace-1" /* of how a benchmark measures: others are not compared */
#define ENVIRONMENT "votrace"

/* Values of one parameter, by strcmp(). */
struct axis {
    const char *key;
    struct vector values; /* const char *, borrowed */
};

/* Rows of the diff with one name of asv's; they are neighbours. */
struct group {
    char *name;
    const struct diff_row *rows;
    size_t count;
    struct vector axes; /* struct axis, by key */
    size_t results;     /* the product of their values */
};

static const char *param_value(const struct run *run, const char *key) {
    for (size_t i = 0; i < run->param_count; i++)
        if (strcmp(run->params[i].key, key) == 0)
            return run->params[i].value;
    return "";
}

/* "votable.parse.read": dots only, that is how asv's names are. */
static char *group_name(const struct diff_row *row) {
    struct run bare = *row->benchmark;
    struct diff_row nameless = *row;
    bare.param_count = 0;
    nameless.benchmark = &bare;
    char *name = render_row_name(&nameless);
    for (char *at = name; at && *at != '\0'; at++)
        if (*at == ':')
            *at = '.';
    return name;
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Where @text is among @texts, or their count. */
static size_t text_find(const struct vector *texts, const char *text) {
    const char *const *items = texts->items;
    size_t i = 0;
    while (i < texts->count && strcmp(items[i], text) != 0)
        i++;
    return i;
}

static int text_add(struct vector *texts, const char *text) {
    if (text_find(texts, text) < texts->count)
        return 0;
    const char **slot = vector_add(texts);
    if (!slot)
        return -ENOMEM;
    *slot = text;
    return 0;
}

static void texts_sort(struct vector *texts) {
    if (texts->count > 0)
        qsort(texts->items, texts->count, sizeof(const char *), compare_texts);
}

static int keys_collect(const struct group *group, struct vector *keys) {
    for (size_t i = 0; i < group->count; i++) {
        const struct run *run = group->rows[i].benchmark;
        for (size_t j = 0; j < run->param_count; j++)
            if (text_add(keys, run->params[j].key) < 0)
                return -ENOMEM;
    }
    texts_sort(keys);
    return 0;
}

static int axis_collect(struct group *group, const char *key, struct fault *fault) {
    struct axis *axis = vector_add(&group->axes);
    if (!axis)
        return export_no_memory(fault);
    *axis = (struct axis){key, VECTOR_OF(const char *)};
    for (size_t i = 0; i < group->count; i++)
        if (text_add(&axis->values, param_value(group->rows[i].benchmark, key)) < 0)
            return export_no_memory(fault);
    texts_sort(&axis->values);
    group->results *= axis->values.count;
    if (group->results > RESULTS_MAX)
        return fault_set(fault, -EINVAL,
                         "the parameters of '%s' have more than %d combinations, which is too "
                         "much for asv: choose some of its runs",
                         group->name, RESULTS_MAX);
    return 0;
}

static void group_finish(struct group *group) {
    struct axis *axes = group->axes.items;
    for (size_t i = 0; i < group->axes.count; i++)
        vector_finish(&axes[i].values);
    vector_finish(&group->axes);
    free(group->name);
}

/* The rows from @first on that have one name. */
static int group_take(const struct diff *diff, size_t first, struct group *ret_group,
                      struct fault *fault) {
    struct group group = {
        .name = group_name(&diff->rows[first]),
        .rows = &diff->rows[first],
        .count = 1,
        .axes = VECTOR_OF(struct axis),
        .results = 1,
    };
    struct vector keys = VECTOR_OF(const char *);
    int r = group.name ? 0 : export_no_memory(fault);
    bool same = r == 0;
    while (same && first + group.count < diff->row_count) {
        char *next = group_name(&diff->rows[first + group.count]);
        same = next && strcmp(next, group.name) == 0;
        r = next ? 0 : export_no_memory(fault);
        group.count += same;
        free(next);
    }
    if (r == 0 && keys_collect(&group, &keys) < 0)
        r = export_no_memory(fault);
    for (size_t i = 0; r == 0 && i < keys.count; i++)
        r = axis_collect(&group, ((const char **)keys.items)[i], fault);
    vector_finish(&keys);
    if (r < 0)
        group_finish(&group);
    else
        *ret_group = group;
    return r;
}

/* By name and region, then by parameters: rows of one group are neighbours then. */
static int compare_rows(const void *a, const void *b) {
    const struct diff_row *left = a;
    const struct diff_row *right = b;
    int order = strcmp(left->benchmark->benchmark, right->benchmark->benchmark);
    if (order == 0)
        order = left->only_region - right->only_region;
    if (order == 0)
        order = strcmp(left->region, right->region);
    return order != 0 ? order : run_compare_benchmark(left->benchmark, right->benchmark);
}

/* Does Python's repr() of it look the same as a number does? */
static bool is_number(const char *value) {
    const char *digits = value[0] == '-' ? value + 1 : value;
    size_t whole = strspn(digits, "0123456789");
    if (whole == 0 || (digits[0] == '0' && whole > 1))
        return false;
    if (digits[whole] == '\0')
        return true;
    return digits[whole] == '.' && digits[whole + 1] != '\0' &&
           digits[whole + 1 + strspn(digits + whole + 1, "0123456789")] == '\0';
}

/* "'binary'", "10": as repr() writes them. */
static int write_value_text(struct json *json, const char *value) {
    if (is_number(value)) {
        json_text(json, NULL, value);
        return 0;
    }
    const char *quote = strchr(value, '\'') && !strchr(value, '"') ? "\"" : "'";
    char *text = malloc(2 * strlen(value) + 3);
    if (!text)
        return -ENOMEM;
    char *to = stpcpy(text, quote);
    for (const char *at = value; *at != '\0'; at++) {
        if (*at == '\\' || *at == quote[0])
            *to++ = '\\';
        *to++ = *at;
    }
    strcpy(to, quote);
    json_text(json, NULL, text);
    free(text);
    return 0;
}

static int write_axes(struct json *json, const char *key, const struct group *group) {
    const struct axis *axes = group->axes.items;
    int r = 0;
    json_begin(json, key, '[');
    for (size_t i = 0; i < group->axes.count; i++) {
        json_begin(json, NULL, '[');
        for (size_t j = 0; r == 0 && j < axes[i].values.count; j++)
            r = write_value_text(json, ((const char **)axes[i].values.items)[j]);
        json_end(json, ']');
    }
    json_end(json, ']');
    return r;
}

/* Which of the group's results @row is. */
static size_t row_place(const struct group *group, const struct diff_row *row) {
    const struct axis *axes = group->axes.items;
    size_t place = 0;
    for (size_t i = 0; i < group->axes.count; i++)
        place = place * axes[i].values.count +
                text_find(&axes[i].values, param_value(row->benchmark, axes[i].key));
    return place;
}

static int write_results(struct json *json, const struct group *group,
                         const struct export_request *request) {
    const struct diff_row **by_place = calloc(group->results, sizeof(*by_place));
    if (!by_place)
        return -ENOMEM;
    for (size_t i = 0; i < group->count; i++)
        by_place[row_place(group, &group->rows[i])] = &group->rows[i];
    json_begin(json, NULL, '[');
    for (size_t i = 0; i < group->results; i++) {
        const struct diff_row *row = by_place[i];
        if (row && export_is_known(row->before.region, request->metric))
            json_int(json, NULL, export_value(&row->before, request, request->metric));
        else
            json_null(json, NULL);
    }
    json_end(json, ']');
    free(by_place);
    return 0;
}

/* What `result_columns` says. */
static int write_result(struct json *json, const struct group *group,
                        const struct export_request *request, struct fault *fault) {
    const struct profile *profile = &group->rows[0].before.run->profile;
    json_begin(json, group->name, '[');
    int r = write_results(json, group, request);
    if (r == 0)
        r = write_axes(json, NULL, group);
    json_text(json, NULL, OUR_VERSION);
    json_int(json, NULL, profile->start_realtime_ns / NS_PER_MS);
    json_null(json, NULL);
    json_end(json, ']');
    return r < 0 ? export_no_memory(fault) : 0;
}

static int write_benchmark(struct json *json, const struct group *group,
                           const struct export_request *request, struct fault *fault) {
    const struct export_metric_text *text = export_metric_text(request->metric);
    const struct axis *axes = group->axes.items;
    json_begin(json, group->name, '{');
    json_text(json, "code", "");
    json_text(json, "name", group->name);
    json_begin(json, "param_names", '[');
    for (size_t i = 0; i < group->axes.count; i++)
        json_text(json, NULL, axes[i].key);
    json_end(json, ']');
    int r = write_axes(json, "params", group);
    json_text(json, "type", "track");
    json_text(json, "unit", text->unit);
    json_text(json, "version", OUR_VERSION);
    json_end(json, '}');
    return r < 0 ? export_no_memory(fault) : 0;
}

typedef int group_writer(struct json *json, const struct group *group,
                         const struct export_request *request, struct fault *fault);

static int write_groups(struct json *json, const struct export_request *request,
                        group_writer *write, struct fault *fault) {
    struct diff sorted = *request->diff;
    int r = 0;
    sorted.rows = calloc(sorted.row_count + 1, sizeof(*sorted.rows));
    if (!sorted.rows)
        return export_no_memory(fault);
    memcpy(sorted.rows, request->diff->rows, sorted.row_count * sizeof(*sorted.rows));
    qsort(sorted.rows, sorted.row_count, sizeof(*sorted.rows), compare_rows);
    for (size_t at = 0; r == 0 && at < sorted.row_count;) {
        struct group group;
        r = group_take(&sorted, at, &group, fault);
        if (r < 0)
            break;
        r = write(json, &group, request, fault);
        at += group.count;
        group_finish(&group);
    }
    free(sorted.rows);
    return r;
}

/* A run whose commit is that of all; NULL and @fault when there is none. */
static const struct run *commit_find(const struct export_request *request,
                                     struct fault *fault) {
    const struct run *first = request->diff->rows[0].before.run;
    const char *commit = request->commit ? request->commit : first->origin.commit;
    for (size_t i = 0; !request->commit && i < request->diff->row_count; i++) {
        const char *other = request->diff->rows[i].before.run->origin.commit;
        if (strcmp(other, commit) == 0)
            continue;
        fault_set(fault, -EINVAL,
                  "its runs are of several commits ('%.12s', '%.12s'), and results of asv are "
                  "of one: choose one benchmark by --name, or say --commit",
                  commit, other);
        return NULL;
    }
    if (commit[0] != '\0')
        return first;
    fault_set(fault, -EINVAL,
              "its runs have no commit, and results of asv need one: say --commit");
    return NULL;
}

static void write_machine(struct json *json, const struct run *run) {
    char count[16];
    snprintf(count, sizeof(count), "%u", run->origin.cpu_count);
    json_text(json, "arch", run->machine);
    json_text(json, "cpu", run->origin.cpu_model);
    json_text(json, "machine", run->host);
    json_text(json, "num_cpu", run->origin.cpu_count != 0 ? count : "");
    json_text(json, "os", "Linux");
    json_text(json, "ram", "");
}

int export_asv(FILE *stream, const struct export_request *request, struct fault *fault) {
    static const char *const columns[] = {"result", "params", "version", "started_at",
                                          "duration"};
    struct json json = {.stream = stream};
    const struct run *run = commit_find(request, fault);
    if (!run)
        return -EINVAL;
    int64_t date_ns = run->origin.commit_time_ns;
    json_begin(&json, NULL, '{');
    json_text(&json, "commit_hash", request->commit ? request->commit : run->origin.commit);
    json_text(&json, "env_name", ENVIRONMENT);
    /* asv draws by it; where git did not know the commit, the run's own time is the best. */
    json_int(&json, "date",
             (date_ns != 0 ? date_ns : run->profile.start_realtime_ns) / NS_PER_MS);
    json_begin(&json, "params", '{');
    write_machine(&json, run);
    json_end(&json, '}');
    json_text(&json, "python", "");
    json_begin(&json, "requirements", '{');
    json_end(&json, '}');
    json_begin(&json, "env_vars", '{');
    json_end(&json, '}');
    json_begin(&json, "result_columns", '[');
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        json_text(&json, NULL, columns[i]);
    json_end(&json, ']');
    json_begin(&json, "results", '{');
    int r = write_groups(&json, request, write_result, fault);
    json_end(&json, '}');
    json_begin(&json, "durations", '{');
    json_end(&json, '}');
    json_int(&json, "version", ASV_VERSION);
    json_end(&json, '}');
    return r;
}

int export_asv_benchmarks(FILE *stream, const struct export_request *request,
                          struct fault *fault) {
    struct json json = {.stream = stream};
    json_begin(&json, NULL, '{');
    int r = write_groups(&json, request, write_benchmark, fault);
    json_int(&json, "version", ASV_VERSION);
    json_end(&json, '}');
    return r;
}

int export_asv_machine(FILE *stream, const struct export_request *request,
                       struct fault *fault) {
    struct json json = {.stream = stream};
    (void)fault;
    json_begin(&json, NULL, '{');
    write_machine(&json, request->diff->rows[0].before.run);
    json_int(&json, "version", ASV_MACHINE);
    json_end(&json, '}');
    return 0;
}
