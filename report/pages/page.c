/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page.c: fill in page.html. @NAME@ in it stands for what a function here writes.
 *
 * The digests in the policy are those of the exact bytes between the tags, the line ends beside
 * them included.
 */
#include "page.h"

#include "assets.h"
#include "config.h"
#include "headline.h"
#include "markup.h"
#include "page_data.h"
#include "sha256.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct page {
    FILE *stream;
    const struct diff *diff;
    bool two_sides;
    struct headline headline;
};

/* The element has a line end after its begin, and the asset ends with one of its own. */
static int write_digest(FILE *stream, const char *directive, const char *asset) {
    char digest[SHA256_BASE64_BYTES];
    char *text;
    int length = asprintf(&text, "\n%s\n", asset);
    if (length < 0)
        return -ENOMEM;
    fprintf(stream, "; %s 'sha256-%s'", directive, sha256_base64(digest, text, (size_t)length));
    free(text);
    return 0;
}

static int write_policy(const struct page *page) {
    fputs("default-src 'none'", page->stream);
    int r = write_digest(page->stream, "style-src", asset_style);
    if (r == 0)
        r = write_digest(page->stream, "script-src", asset_script);
    fputs("; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for "
          "'script'",
          page->stream);
    return r;
}

static int write_title(const struct page *page) {
    markup_text(page->stream, page->headline.title);
    return 0;
}

static int write_kind(const struct page *page) {
    fputs(page->two_sides ? "memory, before and after" : "memory of a run", page->stream);
    return 0;
}

static void write_element(FILE *stream, const char *begin, const char *text, const char *end) {
    fputs(begin, stream);
    markup_text(stream, text);
    fputs(end, stream);
}

static int write_headline(const struct page *page) {
    static const char *const tones[] = {"plain", "better", "worse"};
    const struct headline *headline = &page->headline;
    fprintf(page->stream, "<p class=\"pill %s\" id=\"verdict\">", tones[headline->tone]);
    write_element(page->stream, "", headline->verdict, "</p>\n");
    write_element(page->stream, "<h1>", headline->title, "</h1>\n");
    write_element(page->stream, "<p class=\"lead\">", headline->lead, "</p>\n");
    fprintf(page->stream, "<p class=\"advice %s\">", tones[headline->tone]);
    write_element(page->stream, "", headline->advice, "</p>");
    return 0;
}

static int write_footer(const struct page *page) {
    fputs("Made by votreport " VOTRACE_VERSION
          ". Sizes are bytes as the program requested them; a MiB has 1,048,576.",
          page->stream);
    return 0;
}

static int write_style(const struct page *page) {
    fputs(asset_style, page->stream);
    return 0;
}

static int write_data(const struct page *page) {
    return page_data_write(page->stream, page->diff, page->two_sides);
}

static int write_script(const struct page *page) {
    fputs(asset_script, page->stream);
    return 0;
}

static const struct {
    const char *name;
    int (*write)(const struct page *page);
} blanks[] = {
    {"@POLICY@", write_policy}, {"@TITLE@", write_title},       {"@KIND@", write_kind},
    {"@STYLE@", write_style},   {"@HEADLINE@", write_headline}, {"@FOOTER@", write_footer},
    {"@DATA@", write_data},     {"@SCRIPT@", write_script},
};

/* Write what belongs at @at of the template; @ret_length is what it takes there. */
static int write_at(const struct page *page, const char *at, size_t *ret_length) {
    for (size_t i = 0; i < sizeof(blanks) / sizeof(blanks[0]); i++) {
        *ret_length = strlen(blanks[i].name);
        if (strncmp(at, blanks[i].name, *ret_length) == 0)
            return blanks[i].write(page);
    }
    *ret_length = 1;
    fputc(*at, page->stream);
    return 0;
}

int page_write(FILE *stream, const struct diff *diff, bool two_sides) {
    struct page page = {.stream = stream, .diff = diff, .two_sides = two_sides};
    int r = headline_make(diff, two_sides, &page.headline);
    const char *at = asset_template;
    while (r == 0 && *at != '\0') {
        size_t length = strcspn(at, "@");
        fwrite(at, 1, length, stream);
        at += length;
        if (*at == '\0')
            break;
        r = write_at(&page, at, &length);
        at += length;
    }
    headline_finish(&page.headline);
    return r;
}
