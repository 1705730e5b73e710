/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_stream.c: base64 and rows, walked through byte by byte.
 *
 * base64.c and binary_rows.c read the same, but forgive what users need forgiven, store, and
 * stop at the first problem. This one goes on as long as the places of the cells are known, and
 * needs no memory but a row's null flags. FITS goes to check_fits.c.
 */
#include "check_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DECODED_BYTES 3072

void check_stream_init(struct check_stream *stream, const struct check_stream_place *place) {
    const struct check_fields *fields = place->fields;
    *stream = (struct check_stream){
        .findings = place->findings,
        .fields = fields->items,
        .field_count = fields->count,
        .version = place->version,
        .kind = place->kind,
        .element = place->element,
        .lineno = place->lineno,
        .text_lineno = place->lineno,
        .extnum = place->extnum,
        .problem = place->problem,
    };
    bool rows = place->kind == CHECK_STREAM_BINARY || place->kind == CHECK_STREAM_BINARY2;
    for (size_t i = 0; rows && i < fields->count; i++)
        if (!fields->items[i].usable)
            stream->kind = CHECK_STREAM_OPAQUE;
    if (stream->kind != CHECK_STREAM_BINARY2 || fields->count == 0)
        return;
    stream->flags_bytes = (fields->count + 7) / 8;
    stream->flags = calloc(stream->flags_bytes, 1);
    if (stream->flags == NULL)
        problem_set_memory(stream->problem);
}

void check_stream_finish(struct check_stream *stream) {
    free(stream->flags);
    stream->flags = NULL;
    check_fits_free(stream->fits);
    stream->fits = NULL;
}

static const struct check_field *field_at(const struct check_stream *stream) {
    return &stream->fields[stream->at];
}

static bool is_null(const struct check_stream *stream) {
    return stream->flags != NULL &&
           (stream->flags[stream->at / 8] & (0x80 >> stream->at % 8)) != 0;
}

/* ---- what is in the cells ---- */

/* "row 3, column 'x': " and words. */
#define TELL_CELL(stream, code, words, ...)                                                    \
    findings_add((stream)->findings, code, (stream)->lineno, (stream)->element, NULL,          \
                 "row %" PRIu64 ", column '%.60s': " words, (stream)->rows + 1,                \
                 field_at(stream)->field.name, __VA_ARGS__)

static void look_at_booleans(struct check_stream *stream, const unsigned char *bytes,
                             size_t length) {
    for (size_t i = 0; i < length; i++)
        if (memchr("Tt1Ff0? ", bytes[i], 9) == NULL)
            TELL_CELL(stream, FINDING_B07, "byte 0x%02x is no boolean", bytes[i]);
}

/* Only the last byte of a cell can have bits that are none of its items. */
static void look_at_bits(struct check_stream *stream, const unsigned char *bytes,
                         size_t length) {
    unsigned used = (unsigned)(stream->items % 8);
    if (length == stream->left && used != 0 && (bytes[length - 1] & (0xff >> used)) != 0)
        TELL_CELL(stream, FINDING_B08,
                  "byte 0x%02x has bits set beyond the %" PRIu64 " of the cell",
                  bytes[length - 1], stream->items);
}

static void look_at_chars(struct check_stream *stream, const unsigned char *bytes,
                          size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = bytes[i];
        if (byte < 0x80 && stream->utf8_left == 0)
            continue;
        if (stream->version < V1_6) {
            TELL_CELL(stream, FINDING_C07, "byte 0x%02x is not ASCII, which char is before 1.6",
                      byte);
            return;
        }
        bool continues = (byte & 0xc0) == 0x80;
        if (continues != (stream->utf8_left > 0) || byte >= 0xf8) {
            TELL_CELL(stream, FINDING_C07, "byte 0x%02x makes no UTF-8", byte);
            stream->utf8_left = 0;
            return;
        }
        if (continues)
            stream->utf8_left--;
        else
            stream->utf8_left = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
    }
}

static void look_at_units(struct check_stream *stream, const unsigned char *bytes,
                          size_t length) {
    for (size_t i = 0; i < length; i++) {
        bool high_byte = (stream->left - i) % 2 == 0;
        if (high_byte && bytes[i] >= 0xd8 && bytes[i] < 0xe0)
            TELL_CELL(stream, FINDING_C08,
                      "0x%02x.. is half of a character beyond U+FFFF, which unicodeChar does "
                      "not have",
                      bytes[i]);
    }
}

static void look_at(struct check_stream *stream, const unsigned char *bytes, size_t length) {
    if (length == 0 || is_null(stream))
        return;
    switch (field_at(stream)->field.type) {
    case FIELD_BOOLEAN:
        look_at_booleans(stream, bytes, length);
        break;
    case FIELD_BIT:
        look_at_bits(stream, bytes, length);
        break;
    case FIELD_CHAR:
        look_at_chars(stream, bytes, length);
        break;
    case FIELD_UNICODE_CHAR:
        look_at_units(stream, bytes, length);
        break;
    default:
        break; /* every pattern of bits is a number */
    }
}

/* ---- where the cells are ---- */

static void begin_items(struct check_stream *stream, uint64_t items) {
    stream->phase = CHECK_ITEMS;
    stream->items = items;
    stream->left = field_wire_bytes(&field_at(stream)->field, items);
    stream->utf8_left = 0;
}

static void begin_cell(struct check_stream *stream) {
    if (field_at(stream)->field.variable) {
        stream->phase = CHECK_COUNT;
        stream->left = 4;
        stream->carried = 0;
    } else {
        begin_items(stream, field_at(stream)->field.items);
    }
}

static void begin_row(struct check_stream *stream) {
    stream->at = 0;
    stream->row_start = stream->bytes;
    if (stream->flags != NULL) {
        stream->phase = CHECK_FLAGS;
        stream->left = stream->flags_bytes;
    } else {
        begin_cell(stream);
    }
}

static void end_flags(struct check_stream *stream) {
    unsigned used = (unsigned)(stream->field_count % 8);
    unsigned char last = stream->flags[stream->flags_bytes - 1];
    if (used != 0 && (last & (0xff >> used)) != 0)
        findings_add(stream->findings, FINDING_B08, stream->lineno, stream->element, NULL,
                     "row %" PRIu64 " has null flags for more than its %zu FIELDs",
                     stream->rows + 1, stream->field_count);
    begin_cell(stream);
}

static void end_count(struct check_stream *stream) {
    const struct check_field *field = field_at(stream);
    uint32_t count = (uint32_t)stream->carry[0] << 24 | (uint32_t)stream->carry[1] << 16 |
                     (uint32_t)stream->carry[2] << 8 | stream->carry[3];
    if (count > INT32_MAX) {
        TELL_CELL(stream, FINDING_B05,
                  "array length 0x%08" PRIx32 " is negative, the stream is damaged or does not "
                  "fit its FIELDs",
                  count);
        stream->stopped = true;
        return;
    }
    if (count % field->field.items != 0)
        TELL_CELL(stream, FINDING_B06,
                  "array length %" PRIu32 " is no multiple of the %" PRIu64 " of the arraysize",
                  count, field->field.items);
    if (count > field->bound)
        TELL_CELL(stream, FINDING_C06,
                  "array length %" PRIu32 " is more than the %" PRIu64 " of the arraysize",
                  count, field->bound);
    begin_items(stream, count);
}

static void end_phase(struct check_stream *stream) {
    switch (stream->phase) {
    case CHECK_FLAGS:
        end_flags(stream);
        break;
    case CHECK_COUNT:
        end_count(stream);
        break;
    case CHECK_ITEMS:
        if (++stream->at < stream->field_count) {
            begin_cell(stream);
        } else {
            stream->rows++;
            stream->phase = CHECK_BETWEEN_ROWS;
        }
        break;
    case CHECK_BETWEEN_ROWS:
        break;
    }
}

static void take_phase(struct check_stream *stream, const unsigned char *bytes, size_t length) {
    if (stream->phase == CHECK_FLAGS) {
        memcpy(stream->flags + (stream->flags_bytes - stream->left), bytes, length);
    } else if (stream->phase == CHECK_COUNT) {
        memcpy(stream->carry + stream->carried, bytes, length);
        stream->carried += (unsigned)length;
    } else {
        look_at(stream, bytes, length);
    }
}

static bool rows_have_bytes(const struct check_stream *stream) {
    if (stream->flags_bytes > 0)
        return true;
    for (size_t i = 0; i < stream->field_count; i++) {
        const struct field *field = &stream->fields[i].field;
        if (field->variable || field_wire_bytes(field, field->items) > 0)
            return true;
    }
    return false;
}

static void take_rows(struct check_stream *stream, const unsigned char *bytes, size_t length) {
    if (stream->bytes == 0 && length > 0 && !rows_have_bytes(stream)) {
        findings_add(
            stream->findings, FINDING_B09, stream->lineno, stream->element, NULL,
            "the stream has bytes, but the rows of its TABLE have none, add the FIELDs "
            "or empty the stream");
        stream->stopped = true;
    }
    while (length > 0 && !stream->stopped) {
        if (stream->phase == CHECK_BETWEEN_ROWS)
            begin_row(stream);
        size_t taken = length < stream->left ? length : (size_t)stream->left;
        if (taken > 0)
            take_phase(stream, bytes, taken);
        bytes += taken;
        length -= taken;
        stream->bytes += taken;
        stream->left -= taken;
        /* Cells without bytes end as they begin. */
        while (stream->phase != CHECK_BETWEEN_ROWS && stream->left == 0 && !stream->stopped)
            end_phase(stream);
    }
}

static void take_fits(struct check_stream *stream, const unsigned char *bytes, size_t length) {
    for (size_t i = 0; i < length && stream->carried < sizeof(stream->carry); i++)
        stream->carry[stream->carried++] = bytes[i];
    if (stream->fits == NULL && stream->bytes == 0 &&
        check_fits_new(&stream->fits, stream->problem) < 0)
        return;
    if (stream->fits != NULL)
        check_fits_take(stream->fits, bytes, length);
}

static void take_bytes(struct check_stream *stream, const unsigned char *bytes, size_t length) {
    switch (stream->kind) {
    case CHECK_STREAM_BINARY:
    case CHECK_STREAM_BINARY2:
        take_rows(stream, bytes, length);
        return;
    case CHECK_STREAM_FITS:
        take_fits(stream, bytes, length);
        break;
    case CHECK_STREAM_OPAQUE:
        break;
    }
    stream->bytes += length;
}

/* ---- base64 ---- */

static int digit_value(unsigned char c) {
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static void tell_character(struct check_stream *stream, unsigned char c) {
    char quoted[8] = {(char)c, '\0'};
    if (c < 0x20 || c >= 0x7f) {
        static const char hex[] = "0123456789abcdef";
        memcpy(quoted, "\\x", 2);
        quoted[2] = hex[c >> 4];
        quoted[3] = hex[c & 15];
        quoted[4] = '\0';
    }
    stream->stopped = true;
    if (stream->padding > 0)
        findings_add(stream->findings, FINDING_B02, stream->text_lineno, stream->element, NULL,
                     "'%s' follows the padding of base64, what is behind it is not read",
                     quoted);
    else
        findings_add(stream->findings, FINDING_B01, stream->text_lineno, stream->element, NULL,
                     "'%s' is no character of base64, the rest of the text is not looked at",
                     quoted);
}

/* The bytes of a group of which @digits have come. Returns how many. */
static size_t put_group(uint32_t group, unsigned digits, unsigned char *to) {
    group <<= 6 * (4 - digits);
    to[0] = (unsigned char)(group >> 16);
    to[1] = (unsigned char)(group >> 8);
    to[2] = (unsigned char)group;
    return digits - 1;
}

/* White space, padding, or something that should not be there. Returns bytes put to @to. */
static size_t take_other(struct check_stream *stream, unsigned char c, unsigned char *to) {
    if (c == '\n')
        stream->text_lineno++;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        return 0;
    if (c != '=' || (stream->digits < 2 && stream->padding == 0) ||
        stream->digits + stream->padding >= 4) {
        tell_character(stream, c);
        return 0;
    }
    stream->padding++;
    return stream->digits + stream->padding == 4 ? put_group(stream->group, stream->digits, to)
                                                 : 0;
}

void check_stream_text(struct check_stream *stream, const char *text, size_t length) {
    unsigned char decoded[DECODED_BYTES + 3];
    size_t used = 0;
    for (size_t i = 0; i < length && !stream->stopped; i++) {
        unsigned char c = (unsigned char)text[i];
        int value = digit_value(c);
        if (value < 0) {
            used += take_other(stream, c, decoded + used);
        } else if (stream->padding > 0) {
            tell_character(stream, c);
        } else {
            stream->group = stream->group << 6 | (uint32_t)value;
            if (++stream->digits == 4) {
                used += put_group(stream->group, 4, decoded + used);
                stream->group = 0;
                stream->digits = 0;
            }
        }
        if (used >= DECODED_BYTES) {
            take_bytes(stream, decoded, used);
            used = 0;
        }
    }
    /* What came before the character that stopped it is still looked at. */
    bool stopped = stream->stopped;
    stream->stopped = false;
    if (used > 0)
        take_bytes(stream, decoded, used);
    stream->stopped = stream->stopped || stopped;
}

/* The text is over inside a group: it is cut, or its padding is missing. */
static void end_base64(struct check_stream *stream) {
    if (stream->digits == 0 || stream->digits + stream->padding == 4)
        return;
    findings_add(stream->findings, FINDING_B03, stream->text_lineno, stream->element, NULL,
                 "base64 ends inside a group of four: it is cut short, or %u '=' are missing",
                 4 - stream->digits - stream->padding);
    unsigned char rest[3];
    if (stream->digits > 1)
        take_bytes(stream, rest, put_group(stream->group, stream->digits, rest));
}

static void end_row(struct check_stream *stream) {
    if (stream->phase == CHECK_BETWEEN_ROWS)
        return;
    TELL_CELL(stream, FINDING_B04,
              "the stream ends here, at byte %" PRIu64 " of the row, it is cut short or does "
              "not fit its FIELDs",
              stream->bytes - stream->row_start);
}

static bool end_fits(struct check_stream *stream, uint64_t *ret_rows) {
    if (stream->bytes == 0 || stream->fits == NULL)
        return false;
    if (stream->carried < 9 || memcmp(stream->carry, "SIMPLE  =", 9) != 0) {
        findings_add(stream->findings, FINDING_B12, stream->lineno, stream->element, NULL,
                     "the stream does not begin as a FITS file does");
        return false;
    }
    const struct check_fits_place place = {
        .findings = stream->findings,
        .fields = stream->fields,
        .field_count = stream->field_count,
        .extnum = stream->extnum,
        .lineno = stream->lineno,
    };
    return check_fits_end(stream->fits, &place, ret_rows, stream->problem);
}

bool check_stream_end(struct check_stream *stream, uint64_t *ret_rows) {
    if (!stream->stopped)
        end_base64(stream);
    if (stream->stopped || stream->kind == CHECK_STREAM_OPAQUE)
        return false;
    if (stream->kind == CHECK_STREAM_FITS)
        return end_fits(stream, ret_rows);
    end_row(stream);
    *ret_rows = stream->rows;
    return true;
}
