/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flame_svg.c: weigh the nodes, place them, draw those that can be seen.
 *
 * A node weighs what it holds itself, never below zero, and what its children weigh; of a
 * difference its absolute value: where memory moved from one call to another, both are wide.
 */
#include "flame_svg.h"

#include "calltree.h"
#include "context.h"
#include "headline.h"
#include "markup.h"
#include "render.h"
#include "sizes.h"
#include "utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN       12
#define HEAD_HEIGHT  58
#define ROW_HEIGHT   18
#define LEGEND_MAX   8
#define LETTER_WIDTH 6.7 /* of a monospaced font of 11 pixels, rounded up */
#define LEAST_WIDTH  0.4

struct flame_svg {
    FILE *stream;
    const struct diff_row *row;
    const struct calltree *tree;
    struct context context; /* for texts and colors of modules */
    double *weights;
    double *lefts; /* where each node begins; negative: not drawn */
    double scale;  /* pixels for each unit of weight */
    int width;
    bool two_sides;
    uint32_t depth; /* of the deepest node that is drawn */
};

static int64_t value_of(const struct calltree_node *node, enum calltree_side side) {
    return node->subtree[side][CALLTREE_PEAK_ADDED];
}

static double own_weight(const struct flame_svg *svg, const struct calltree_node *node) {
    int64_t before = node->self[CALLTREE_BEFORE][CALLTREE_PEAK_ADDED];
    int64_t after = node->self[CALLTREE_AFTER][CALLTREE_PEAK_ADDED];
    if (svg->two_sides)
        return fabs((double)after - (double)before);
    int64_t held = svg->row->after.run ? after : before;
    return held > 0 ? (double)held : 0;
}

/* Parents stand before their children: sums go from the end, places from the begin. */
static void place(struct flame_svg *svg) {
    const struct calltree_node *nodes = svg->tree->nodes;
    for (size_t i = svg->tree->count; i-- > 0;) {
        svg->weights[i] += own_weight(svg, &nodes[i]);
        if (i > 0)
            svg->weights[nodes[i].parent] += svg->weights[i];
    }
    double room = svg->width - 2 * MARGIN;
    svg->scale = svg->weights[0] > 0 ? room / svg->weights[0] : 0;
    for (size_t i = 0; i < svg->tree->count; i++)
        svg->lefts[i] = i == 0 ? MARGIN : -1;
    for (size_t i = 0; i < svg->tree->count; i++) {
        double left = svg->lefts[i];
        if (left < 0)
            continue;
        if (nodes[i].depth > svg->depth)
            svg->depth = nodes[i].depth;
        for (uint32_t child = nodes[i].first_child; child != CALLTREE_NONE;
             child = nodes[child].next_sibling) {
            double wide = svg->weights[child] * svg->scale;
            if (wide >= LEAST_WIDTH)
                svg->lefts[child] = left;
            left += wide;
        }
    }
}

/* Colors */

/* @saturation and @lightness from 0 to 1. */
static uint32_t color_of_hue(int hue, double saturation, double lightness) {
    double chroma = (1 - fabs(2 * lightness - 1)) * saturation;
    uint32_t color = 0;
    static const int shifts[] = {0, 8, 4}; /* of red, green, blue, in twelfths of the circle */
    for (size_t i = 0; i < 3; i++) {
        double k = fmod(shifts[i] + hue / 30.0, 12);
        double tent = fmax(-1, fmin(fmin(k - 3, 9 - k), 1));
        color = color << 8 | (uint32_t)((lightness - chroma / 2 * tent) * 255 + 0.5);
    }
    return color;
}

static uint32_t color_of_change(int64_t before, int64_t after) {
    double whole = fmax(fmax((double)before, (double)after), 1);
    double change = (double)after - (double)before;
    double share = fmin(1, sqrt(fabs(change) / whole));
    if (change == 0)
        return 0xeceae5;
    return color_of_hue(change > 0 ? 8 : 214, 0.45 + 0.4 * share, 0.92 - 0.22 * share);
}

static int color_of(struct flame_svg *svg, const struct calltree_node *node,
                    uint32_t *ret_color) {
    uint32_t module;
    *ret_color = 0xeceae5;
    if (node->kind != CALLTREE_FRAME)
        return 0;
    if (svg->two_sides) {
        *ret_color =
            color_of_change(value_of(node, CALLTREE_BEFORE), value_of(node, CALLTREE_AFTER));
        return 0;
    }
    int r = context_module_of(&svg->context, node->profile, node->frame, &module);
    if (r == 0)
        *ret_color = color_of_hue(context_hue(&svg->context, module), 0.62, 0.80);
    return r;
}

/* Words */

static int name_of(struct flame_svg *svg, const struct calltree_node *node,
                   const char **ret_name) {
    const struct callsite none = {
        .profile = svg->row->after.run ? &svg->row->after.run->profile
                                       : &svg->row->before.run->profile,
        .flags = node->kind == CALLTREE_OTHER ? TRACE_SITE_OTHER : TRACE_SITE_NO_STACK,
    };
    uint32_t number;
    const char *name = node->kind == CALLTREE_FRAME  ? node->name
                       : node->kind == CALLTREE_ROOT ? svg->row->region
                                                     : render_no_stack(&none);
    int r = names_number(&svg->context.texts, name, &number);
    if (r == 0)
        *ret_name = ((const char **)svg->context.texts.texts.items)[number];
    return r;
}

/* "+1.50 MiB" or "-3.00 KiB". */
static const char *change_text(char text[SIZES_TEXT_BYTES + 1], int64_t bytes) {
    text[0] = '+';
    sizes_format(bytes > 0 ? text + 1 : text, bytes);
    return text;
}

static void write_numbers(const struct flame_svg *svg, const struct calltree_node *node) {
    char first[SIZES_TEXT_BYTES + 1], second[SIZES_TEXT_BYTES + 1], third[SIZES_TEXT_BYTES + 1];
    char exact[SIZES_TEXT_BYTES];
    int64_t before = value_of(node, CALLTREE_BEFORE);
    int64_t after = value_of(node, CALLTREE_AFTER);
    if (svg->two_sides) {
        fprintf(svg->stream, "%s to %s, %s (%s bytes)", sizes_format(first, before),
                sizes_format(second, after), change_text(third, after - before),
                sizes_group(exact, after - before));
        return;
    }
    enum calltree_side side = svg->row->after.run ? CALLTREE_AFTER : CALLTREE_BEFORE;
    int64_t held = value_of(node, side);
    int64_t whole = value_of(svg->tree->nodes, side);
    fprintf(svg->stream, "%s (%s bytes", sizes_format(first, held), sizes_group(exact, held));
    if (whole > 0)
        fprintf(svg->stream, ", %.1f %%", 100.0 * (double)held / (double)whole);
    fputc(')', svg->stream);
}

static void write_place(struct flame_svg *svg, const struct calltree_node *node) {
    const char *file = node->frame->file;
    char *text = NULL;
    if (file[0] == '\0')
        file = node->profile->modules[node->frame->module].path;
    text = strndup(file, NAMES_TEXT_MAX);
    if (!text)
        return;
    utf8_clean(text);
    fputc('\n', svg->stream);
    markup_text(svg->stream, text);
    if (node->frame->file[0] != '\0' && node->frame->lineno > 0)
        fprintf(svg->stream, ":%" PRIu32, node->frame->lineno);
    free(text);
}

/* As much of @name as has room, at most; no letter is cut in two. */
static void write_label(const struct flame_svg *svg, const char *name, double left, double top,
                        double wide) {
    char text[512];
    size_t room = (size_t)fmin((wide - 6) / LETTER_WIDTH, 120);
    size_t length = 0;
    size_t letters = 0;
    if (wide < 3 * LETTER_WIDTH + 6)
        return;
    while (name[length] != '\0' && length + 4 < sizeof(text)) {
        letters += ((unsigned char)name[length] & 0xc0) != 0x80;
        if (letters > room)
            break;
        length++;
    }
    bool is_cut = name[length] != '\0';
    while (is_cut && length > 0 && letters > room - 1) {
        length--;
        letters -= ((unsigned char)name[length] & 0xc0) != 0x80;
    }
    memcpy(text, name, length);
    memcpy(text + length, is_cut ? "\u2026" : "", is_cut ? 4 : 1);
    fprintf(svg->stream, "<text x=\"%.2f\" y=\"%.1f\">", left + 3, top + 12.5);
    markup_text(svg->stream, text);
    fputs("</text>", svg->stream);
}

static int write_node(struct flame_svg *svg, size_t i) {
    const struct calltree_node *node = &svg->tree->nodes[i];
    double left = svg->lefts[i];
    double wide = svg->weights[i] * svg->scale;
    double top = HEAD_HEIGHT + (double)node->depth * ROW_HEIGHT;
    const char *name = "";
    uint32_t color;
    int r = color_of(svg, node, &color);
    if (r == 0)
        r = name_of(svg, node, &name);
    if (r < 0)
        return r;
    fputs("<g><title>", svg->stream);
    markup_text(svg->stream, name);
    fputs(": ", svg->stream);
    write_numbers(svg, node);
    if (node->kind == CALLTREE_FRAME)
        write_place(svg, node);
    fprintf(svg->stream,
            "</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" rx=\"1.5\" "
            "fill=\"#%06" PRIx32 "\"/>",
            left, top, fmax(wide - 0.5, LEAST_WIDTH), ROW_HEIGHT - 1, color);
    write_label(svg, name, left, top, wide);
    fputs("</g>\n", svg->stream);
    return 0;
}

/* The picture */

static int write_head(struct flame_svg *svg, int height) {
    char *name = render_row_name(svg->row);
    char *about = headline_row(svg->row);
    if (name && about) {
        fprintf(svg->stream,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                "viewBox=\"0 0 %d %d\" role=\"img\" "
                "font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" "
                "font-size=\"11\" fill=\"#1c1e22\">\n<title>",
                svg->width, height, svg->width, height);
        markup_text(svg->stream, name);
        fputs("</title>\n<desc>", svg->stream);
        markup_text(svg->stream, about);
        fprintf(svg->stream,
                "</desc>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fcfbf9\"/>\n"
                "<text x=\"%d\" y=\"24\" font-family=\"system-ui, sans-serif\" "
                "font-size=\"16\" font-weight=\"600\">",
                MARGIN);
        markup_text(svg->stream, name);
        fprintf(svg->stream,
                "</text>\n<text x=\"%d\" y=\"44\" font-family=\"system-ui, sans-serif\" "
                "font-size=\"12\" fill=\"#5d636d\">%s: ",
                MARGIN,
                svg->two_sides ? "What changed at the peak, red grew, blue shrank"
                               : "Added at the peak");
        write_numbers(svg, svg->tree->nodes);
        fputs("</text>\n", svg->stream);
    }
    int r = name && about ? 0 : -ENOMEM;
    free(name);
    free(about);
    return r;
}

static void write_legend(struct flame_svg *svg, double top) {
    const char *const *paths = svg->context.modules.texts.items;
    double left = MARGIN;
    for (size_t i = 1; i < svg->context.modules.texts.count && i <= LEGEND_MAX; i++) {
        const char *name = callsite_basename(paths[i]);
        double wide = 22 + LETTER_WIDTH * (double)utf8_width(name);
        if (left + wide > svg->width - MARGIN)
            return;
        fprintf(svg->stream,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" rx=\"2\" "
                "fill=\"#%06" PRIx32 "\"/><text x=\"%.1f\" y=\"%.1f\">",
                left, top, color_of_hue(context_hue(&svg->context, (uint32_t)i), 0.62, 0.80),
                left + 14, top + 9);
        markup_text(svg->stream, name);
        fputs("</text>\n", svg->stream);
        left += wide + 6;
    }
}

static int draw(struct flame_svg *svg) {
    place(svg);
    double bottom = HEAD_HEIGHT + (double)(svg->depth + 1) * ROW_HEIGHT;
    int r = write_head(svg, (int)bottom + 32);
    for (size_t i = 0; r == 0 && i < svg->tree->count; i++)
        if (svg->lefts[i] >= 0 && svg->scale > 0)
            r = write_node(svg, i);
    if (r == 0 && svg->scale == 0)
        fprintf(svg->stream, "<text x=\"%d\" y=\"%d\">%s</text>\n", MARGIN, HEAD_HEIGHT + 12,
                svg->two_sides ? "Nothing changed." : "Nothing was added at the peak.");
    if (r == 0 && !svg->two_sides)
        write_legend(svg, bottom + 12);
    fputs("</svg>\n", svg->stream);
    return r;
}

int flame_svg_write(FILE *stream, const struct diff_row *row, int width) {
    static const struct calltree_settings settings = {
        .by = CALLTREE_BY_FUNCTION,
        .space = TRACE_HEAP,
    };
    struct calltree_source sources[CALLTREE_SIDES] = {0};
    struct calltree tree;
    struct flame_svg svg = {
        .stream = stream,
        .row = row,
        .width = width,
        .two_sides = row->before.run && row->after.run,
    };
    if (row->before.run)
        sources[CALLTREE_BEFORE] =
            (struct calltree_source){&row->before.run->profile, row->before.region};
    if (row->after.run)
        sources[CALLTREE_AFTER] =
            (struct calltree_source){&row->after.run->profile, row->after.region};
    int r = calltree_build(sources, &settings, &tree);
    if (r < 0)
        return r;
    svg.tree = &tree;
    r = context_init(&svg.context, stream);
    if (r == 0) {
        svg.weights = calloc(tree.count, sizeof(*svg.weights));
        svg.lefts = calloc(tree.count, sizeof(*svg.lefts));
        r = svg.weights && svg.lefts ? draw(&svg) : -ENOMEM;
        free(svg.weights);
        free(svg.lefts);
        context_finish(&svg.context);
    }
    calltree_finish(&tree);
    return r;
}
