/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * render_gate_ci.c: what gate found, as annotations of GitHub and as JUnit's XML.
 *
 * Names and reasons come from whoever wrote the pull request: nothing in them may end a
 * property, a command or an element.
 */
#include "render_gate.h"

#include "callsite.h"
#include "markup.h"
#include "render.h"
#include "repository.h"
#include "utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The toolkit's escapeData() and escapeProperty(). */
static void write_escaped(FILE *stream, const char *text, bool is_property) {
    static const char encoded[] = "%\r\n";
    for (; *text != '\0'; text++) {
        bool special =
            strchr(encoded, *text) || (is_property && (*text == ':' || *text == ','));
        if (special)
            fprintf(stream, "%%%02X", (unsigned char)*text);
        else
            fputc(*text, stream);
    }
}

/*
 * The frame of the call site that grew most that is in the repository, the innermost such; its
 * path there in @ret_path. NULL when there is none.
 */
static const struct profile_frame *place_find(const struct diff_row *row, const char *root,
                                              char ret_path[PATH_MAX]) {
    for (size_t i = 0; i < row->site_count; i++) {
        const struct callsite *site = &row->sites[i].site;
        if (row->sites[i].after_bytes <= row->sites[i].before_bytes)
            continue;
        for (uint32_t node = site->node; node != 0; node = site->profile->nodes[node].parent) {
            const struct profile_frame *frame = callsite_frame(site->profile, node);
            if (frame->lineno > 0 && repository_path(root, frame->file, ret_path))
                return frame;
        }
    }
    return NULL;
}

static int annotation_write(FILE *stream, const struct gate_finding *finding,
                            const char *root) {
    char path[PATH_MAX];
    char *name = render_finding_name(finding);
    char *words = render_finding_words(finding);
    const struct profile_frame *frame = place_find(finding->row, root, path);
    int r = name && words ? 0 : -ENOMEM;
    if (r == 0) {
        utf8_clean(words);
        fputs("::error ", stream);
        if (frame) {
            utf8_clean(path);
            fputs("file=", stream);
            write_escaped(stream, path, true);
            fprintf(stream, ",line=%" PRIu32 ",", frame->lineno);
        }
        fputs("title=", stream);
        write_escaped(
            stream,
            finding->verdict == GATE_REGRESSION ? "memory grew: " : "no answer: ", true);
        write_escaped(stream, name, true);
        fputs("::", stream);
        write_escaped(stream, words, false);
        fputc('\n', stream);
    }
    free(name);
    free(words);
    return r;
}

int render_gate_annotations(FILE *stream, const struct gate *gate, const char *root) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < gate->finding_count; i++)
        if (gate->findings[i].verdict != GATE_PASS)
            r = annotation_write(stream, &gate->findings[i], root);
    return r < 0 ? r : ferror(stream) ? -EIO : 0;
}

static void write_attribute(FILE *stream, const char *name, const char *text) {
    fprintf(stream, " %s=\"", name);
    markup_text(stream, text);
    fputc('"', stream);
}

static void write_outcome(FILE *stream, const struct gate_finding *finding, const char *words) {
    static const char *const elements[] = {
        [GATE_REGRESSION] = "failure",
        [GATE_UNANSWERED] = "error",
    };
    if (finding->verdict == GATE_PASS) {
        if (words[0] != '\0') {
            fputs("      <system-out>", stream);
            markup_text(stream, words);
            fputs("</system-out>\n", stream);
        }
        return;
    }
    fprintf(stream, "      <%s", elements[finding->verdict]);
    write_attribute(stream, "message", words);
    write_attribute(stream, "type",
                    finding->verdict == GATE_REGRESSION ? "regression" : "unanswered");
    fputs("/>\n", stream);
}

static int testcase_write(FILE *stream, const struct gate_finding *finding) {
    char *name = render_finding_name(finding);
    char *words = render_finding_words(finding);
    int r = name && words ? 0 : -ENOMEM;
    if (r == 0) {
        utf8_clean(words);
        fputs("    <testcase", stream);
        write_attribute(stream, "classname", finding->with_baseline ? "baseline" : "previous");
        write_attribute(stream, "name", name);
        fputs(" time=\"0\">\n", stream);
        write_outcome(stream, finding, words);
        fputs("    </testcase>\n", stream);
    }
    free(name);
    free(words);
    return r;
}

int render_gate_junit(FILE *stream, const struct gate *gate) {
    int r = 0;
    fprintf(stream,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
            "  <testsuite name=\"votrace gate\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
            "time=\"0\">\n",
            gate->finding_count, gate->counts[GATE_REGRESSION], gate->counts[GATE_UNANSWERED]);
    for (size_t i = 0; r == 0 && i < gate->finding_count; i++)
        r = testcase_write(stream, &gate->findings[i]);
    fputs("  </testsuite>\n</testsuites>\n", stream);
    return r < 0 ? r : ferror(stream) ? -EIO : 0;
}
