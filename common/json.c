/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c: commas, indentation and escapes, in one place. */
#include "json.h"

#include "utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What begins a tag, a comment or an entity, and what older scripts take for an end of line. */
static bool html_gives_a_meaning(uint32_t point) {
    return point == '<' || point == '>' || point == '&' || point == 0x2028 || point == 0x2029;
}

static void write_string(const struct json *json, const char *text) {
    FILE *stream = json->stream;
    const char *at = text;
    size_t left = strlen(text);
    fputc('"', stream);
    while (left > 0) {
        uint32_t point;
        size_t bytes = utf8_decode(at, left, &point);
        if (point == UTF8_INVALID)
            fputs("\\ufffd", stream);
        else if (point == '"' || point == '\\')
            fprintf(stream, "\\%c", (int)point);
        else if (point < 0x20 || (point >= 0x7f && point < 0xa0) ||
                 (json->in_html && html_gives_a_meaning(point)))
            fprintf(stream, "\\u%04x", (unsigned)point);
        else
            fwrite(at, 1, bytes, stream);
        at += bytes;
        left -= bytes;
    }
    fputc('"', stream);
}

static void write_lead(struct json *json, const char *key) {
    if (json->has_items)
        fputc(',', json->stream);
    if (!json->compact && json->depth > 0)
        fprintf(json->stream, "\n%*s", 2 * json->depth, "");
    json->has_items = true;
    if (!key)
        return;
    write_string(json, key);
    fputs(json->compact ? ":" : ": ", json->stream);
}

void json_begin(struct json *json, const char *key, char bracket) {
    write_lead(json, key);
    fputc(bracket, json->stream);
    json->depth++;
    json->has_items = false;
}

void json_end(struct json *json, char bracket) {
    json->depth--;
    if (!json->compact && json->has_items)
        fprintf(json->stream, "\n%*s", 2 * json->depth, "");
    fputc(bracket, json->stream);
    json->has_items = true;
    if (!json->compact && json->depth == 0)
        fputc('\n', json->stream);
}

void json_text(struct json *json, const char *key, const char *value) {
    write_lead(json, key);
    write_string(json, value);
}

void json_int(struct json *json, const char *key, int64_t value) {
    write_lead(json, key);
    fprintf(json->stream, "%" PRId64, value);
}

void json_bool(struct json *json, const char *key, bool value) {
    write_lead(json, key);
    fputs(value ? "true" : "false", json->stream);
}

void json_null(struct json *json, const char *key) {
    write_lead(json, key);
    fputs("null", json->stream);
}

void json_ratio(struct json *json, const char *key, double value) {
    if (!isfinite(value)) {
        json_null(json, key);
        return;
    }
    write_lead(json, key);
    fprintf(json->stream, "%.4f", value);
}

void json_real(struct json *json, const char *key, const char *digits, size_t length) {
    write_lead(json, key);
    fwrite(digits, 1, length, json->stream);
}
