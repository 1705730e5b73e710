/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * context.c: tables that grow while the data is written.
 *
 * A module's color comes from its name, so that it is the same on every page; where two would
 * have the same, the later takes the next that is free. All of Python's code is one module of the
 * profile; here each package is one of its own.
 */
#include "context.h"

#include "callsite.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define HUES           16
#define HUE_STEP       (360 / HUES)
#define HUE_OF_NO_FILE 60

int context_init(struct context *context, FILE *stream) {
    *context = (struct context){
        .json = {.stream = stream, .compact = true, .in_html = true},
        .module_hues = VECTOR_OF(int),
        .frames = VECTOR_OF(struct context_frame),
        .runs = VECTOR_OF(const struct run *),
    };
    int r = names_init(&context->texts);
    if (r == 0)
        r = names_init(&context->modules);
    if (r == 0)
        r = names_init(&context->frame_keys);
    int *hue = r == 0 ? vector_add(&context->module_hues) : NULL;
    if (!hue || !vector_add(&context->frames)) {
        context_finish(context);
        return -ENOMEM;
    }
    *hue = HUE_OF_NO_FILE;
    return 0;
}

static bool hue_is_taken(const struct context *context, unsigned hue) {
    return context->hues_taken & 1u << hue % HUES;
}

/* From the name's own on the first that is free, best one whose neighbors are free, too. */
static int hue_take(struct context *context, const char *path) {
    unsigned first = names_hash(callsite_basename(path)) % HUES;
    for (int apart = 1; apart >= 0; apart--) {
        for (unsigned hue = first; hue < first + HUES; hue++) {
            if (hue_is_taken(context, hue) ||
                (apart &&
                 (hue_is_taken(context, hue + 1) || hue_is_taken(context, hue + HUES - 1))))
                continue;
            context->hues_taken |= 1u << hue % HUES;
            return (int)(hue % HUES * HUE_STEP);
        }
    }
    return (int)(first * HUE_STEP);
}

int context_module(struct context *context, const char *path, uint32_t *ret_number) {
    uint32_t number;
    int r = names_number(&context->modules, path, &number);
    if (r < 0)
        return r;
    if (number == context->module_hues.count) {
        int *hue = vector_add(&context->module_hues);
        if (!hue)
            return -ENOMEM;
        *hue = hue_take(context, path);
    }
    *ret_number = number;
    return 0;
}

/* What comes after the last @folder in @path; NULL: it is not there. */
static const char *after_folder(const char *path, const char *folder) {
    const char *found = NULL;
    for (const char *at = path; (at = strstr(at, folder)) != NULL; at++)
        found = at + strlen(folder);
    return found;
}

/* "[python] numpy" of "/usr/lib/python3/dist-packages/numpy/core/numeric.py". */
static void package_name(const char *path, char *ret_text, size_t room) {
    static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        const char *package = after_folder(path, folders[i]);
        if (!package)
            continue;
        size_t length = strcspn(package, "/");
        if (package[length] == '\0')
            length = strcspn(package, "."); /* a module that is one file */
        snprintf(ret_text, room, "%s %.*s", PROFILE_CODE_PATH, (int)length, package);
        return;
    }
    bool is_of_python = strstr(path, "/lib/python") || strncmp(path, "<frozen ", 8) == 0;
    snprintf(ret_text, room, "%s%s", PROFILE_CODE_PATH,
             is_of_python ? " standard library" : "");
}

int context_module_of(struct context *context, const struct profile *profile,
                      const struct profile_frame *frame, uint32_t *ret_number) {
    const struct profile_module *module = &profile->modules[frame->module];
    char package[128];
    if (!module->is_code)
        return context_module(context, module->path, ret_number);
    package_name(frame->file, package, sizeof(package));
    return context_module(context, package, ret_number);
}

int context_hue(const struct context *context, uint32_t module) {
    return ((const int *)context->module_hues.items)[module];
}

int context_frame(struct context *context, const struct profile *profile,
                  const struct profile_frame *frame, const char *name, uint32_t *ret_number) {
    struct context_frame made = {.lineno = frame->lineno};
    char key[64];
    uint32_t number;
    int r = names_number(&context->texts, name, &made.name);
    if (r == 0)
        r = names_number(&context->texts, frame->file, &made.file);
    if (r == 0)
        r = context_module_of(context, profile, frame, &made.module);
    snprintf(key, sizeof(key), "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32, made.name,
             made.file, made.lineno, made.module);
    if (r == 0)
        r = names_number(&context->frame_keys, key, &number);
    if (r < 0)
        return r;
    if (number == context->frames.count) {
        struct context_frame *added = vector_add(&context->frames);
        if (!added)
            return -ENOMEM;
        *added = made;
    }
    *ret_number = number;
    return 0;
}

int context_run(struct context *context, const struct run *run, uint32_t *ret_number) {
    const struct run **runs = context->runs.items;
    for (size_t i = 0; i < context->runs.count; i++) {
        if (runs[i] == run) {
            *ret_number = (uint32_t)i;
            return 0;
        }
    }
    const struct run **added = vector_add(&context->runs);
    if (!added)
        return -ENOMEM;
    *added = run;
    *ret_number = (uint32_t)context->runs.count - 1;
    return 0;
}

int context_write_text(struct context *context, const char *key, const char *text) {
    uint32_t number;
    int r = names_number(&context->texts, text, &number);
    if (r == 0)
        json_int(&context->json, key, number);
    return r;
}

static void write_frames(struct context *context) {
    struct json *json = &context->json;
    const struct context_frame *frames = context->frames.items;
    json_begin(json, "frames", '[');
    for (size_t i = 0; i < context->frames.count; i++) {
        json_begin(json, NULL, '[');
        json_int(json, NULL, frames[i].name);
        json_int(json, NULL, frames[i].file);
        json_int(json, NULL, frames[i].lineno);
        json_int(json, NULL, frames[i].module);
        json_end(json, ']');
    }
    json_end(json, ']');
}

static void write_modules(struct context *context) {
    struct json *json = &context->json;
    const char *const *paths = context->modules.texts.items;
    json_begin(json, "modules", '[');
    for (size_t i = 0; i < context->modules.texts.count; i++) {
        json_begin(json, NULL, '{');
        json_text(json, "name", i == 0 ? "(no file)" : callsite_basename(paths[i]));
        json_text(json, "path", i == 0 ? "(no file)" : paths[i]);
        json_int(json, "hue", context_hue(context, (uint32_t)i));
        json_end(json, '}');
    }
    json_end(json, ']');
}

void context_write_tables(struct context *context) {
    struct json *json = &context->json;
    const char *const *texts = context->texts.texts.items;
    write_frames(context);
    write_modules(context);
    json_begin(json, "strings", '[');
    for (size_t i = 0; i < context->texts.texts.count; i++)
        json_text(json, NULL, texts[i]);
    json_end(json, ']');
}

void context_finish(struct context *context) {
    names_finish(&context->texts);
    names_finish(&context->modules);
    names_finish(&context->frame_keys);
    vector_finish(&context->module_hues);
    vector_finish(&context->frames);
    vector_finish(&context->runs);
}
