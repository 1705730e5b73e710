/* SPDX-License-Identifier: BSD-3-Clause */
/* site_data.c: each call site is a short list: change, name, place, callers, then its numbers. */
#include "site_data.h"

#include "render.h"

#include <errno.h>
#include <stdlib.h>

#define SITES_MAX       1000
#define CALLERS_COLUMNS 160

static int64_t added_bytes(const struct callsite *site) {
    return site->peak.bytes - site->start.bytes;
}

static int compare_added(const void *a, const void *b) {
    int64_t left = added_bytes(a);
    int64_t right = added_bytes(b);
    if (left != right)
        return left > right ? -1 : 1;
    return callsite_compare(a, b);
}

static bool is_of_interest(const struct callsite *site) {
    return added_bytes(site) != 0 || site->end.bytes != site->start.bytes ||
           site->allocated.blocks != 0;
}

int site_data_collect(const struct diff_value *value, struct callsite_list *ret_list) {
    struct callsite_list list;
    size_t kept = 0;
    int r = callsite_collect(&value->run->profile, value->region, TRACE_HEAP, &list);
    if (r < 0)
        return r;
    for (size_t i = 0; i < list.count; i++)
        if (is_of_interest(&list.items[i]))
            list.items[kept++] = list.items[i];
    list.count = kept;
    qsort(list.items, list.count, sizeof(*list.items), compare_added);
    *ret_list = list;
    return 0;
}

/* "new" and "gone" are words for people; so is "" for all others. */
static int write_words(struct context *context, const char *change,
                       const struct callsite *site) {
    bool known = site->node != 0;
    char *name = known ? render_function(site) : NULL;
    char *place = known ? render_place(site) : NULL;
    char *callers = known ? render_callers(site, CALLERS_COLUMNS) : NULL;
    int r = known && !(name && place && callers) ? -ENOMEM : 0;
    json_text(&context->json, NULL, change);
    if (r == 0)
        r = context_write_text(context, NULL, known ? name : render_no_stack(site));
    if (r == 0)
        r = context_write_text(context, NULL, known ? place : "");
    if (r == 0)
        r = context_write_text(context, NULL, known ? callers : "");
    free(name);
    free(place);
    free(callers);
    return r;
}

static int write_site(struct context *context, const struct callsite *site) {
    struct json *json = &context->json;
    json_begin(json, NULL, '[');
    int r = write_words(context, "", site);
    json_int(json, NULL, added_bytes(site));
    json_int(json, NULL, site->peak.blocks - site->start.blocks);
    json_int(json, NULL, site->end.bytes - site->start.bytes);
    json_int(json, NULL, site->allocated.bytes);
    json_int(json, NULL, site->allocated.blocks);
    json_end(json, ']');
    return r;
}

static int write_one_side(struct context *context, const char *key,
                          const struct diff_value *value, size_t *ret_left_out) {
    struct callsite_list list;
    int r = site_data_collect(value, &list);
    if (r < 0)
        return r;
    size_t shown = list.count < SITES_MAX ? list.count : SITES_MAX;
    json_begin(&context->json, key, '[');
    for (size_t i = 0; r == 0 && i < shown; i++)
        r = write_site(context, &list.items[i]);
    json_end(&context->json, ']');
    *ret_left_out = list.count - shown;
    free(list.items);
    return r;
}

static int write_two_sides(struct context *context, const char *key, const struct diff_row *row,
                           size_t *ret_left_out) {
    struct json *json = &context->json;
    size_t shown = row->site_count < SITES_MAX ? row->site_count : SITES_MAX;
    int r = 0;
    json_begin(json, key, '[');
    for (size_t i = 0; r == 0 && i < shown; i++) {
        const struct diff_site *site = &row->sites[i];
        json_begin(json, NULL, '[');
        r = write_words(context,
                        !site->in_before  ? "new"
                        : !site->in_after ? "gone"
                                          : "",
                        &site->site);
        json_int(json, NULL, site->before_bytes);
        json_int(json, NULL, site->after_bytes);
        json_end(json, ']');
    }
    json_end(json, ']');
    *ret_left_out = row->site_count - shown;
    return r;
}

int site_data_write(struct context *context, const char *key, const struct diff_row *row) {
    const struct diff_value *value = row->after.run ? &row->after : &row->before;
    bool two = row->before.run && row->after.run;
    char left_out_key[64];
    size_t left_out = 0;
    int r = 0;
    if (two ? !row->explained : !value->region->has_rows)
        json_null(&context->json, key);
    else if (two)
        r = write_two_sides(context, key, row, &left_out);
    else
        r = write_one_side(context, key, value, &left_out);
    snprintf(left_out_key, sizeof(left_out_key), "%s_left_out", key);
    json_int(&context->json, left_out_key, (int64_t)left_out);
    return r;
}
