/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * headline.c: count the rows, name the largest, and judge by the limits that gate has.
 *
 * Sentences are put together from numbers that are on the page as well; nothing is said that the
 * page does not show.
 */
#include "headline.h"

#include "gate.h"
#include "render.h"
#include "site_data.h"
#include "sizes.h"
#include "textstream.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tally {
    size_t counts[DIFF_UNKNOWN + 1]; /* what may be chance is not among worse and better */
    size_t noisy;
    size_t alarming;
    const struct diff_row *largest; /* the largest change; of one side the largest row */
    const struct diff_row *unfit;   /* a row of which a side is not to be trusted */
    const struct diff_row *varying; /* a row whose repeats differ */
};

static const char *bytes_text(char text[SIZES_TEXT_BYTES + 1], int64_t bytes) {
    return sizes_format(text, bytes);
}

static int64_t change_of(const struct diff_row *row) {
    return row->after.peak_added - row->before.peak_added;
}

static int64_t magnitude_of(const struct diff_row *row) {
    int64_t bytes = row->before.run && row->after.run ? change_of(row)
                    : row->after.run                  ? row->after.peak_added
                                                      : row->before.peak_added;
    return bytes < 0 ? -bytes : bytes;
}

bool headline_is_alarming(const struct diff_row *row) {
    return diff_is_change(row) && row->ratio > GATE_MAX_RATIO &&
           change_of(row) > GATE_MAX_ADDED_BYTES;
}

static struct tally tally_make(const struct diff *diff, bool two_sides) {
    struct tally tally = {0};
    for (size_t i = 0; i < diff->row_count; i++) {
        const struct diff_row *row = &diff->rows[i];
        bool counts = !two_sides || (row->before.run && row->after.run);
        bool may_be_chance =
            (row->status == DIFF_WORSE || row->status == DIFF_BETTER) && !diff_is_change(row);
        tally.counts[row->status] += !may_be_chance;
        tally.noisy += may_be_chance;
        tally.alarming += headline_is_alarming(row);
        if (counts && (!tally.largest || magnitude_of(row) > magnitude_of(tally.largest)))
            tally.largest = row;
        if (!tally.unfit && (row->before.unfit || row->after.unfit))
            tally.unfit = row;
        if (!tally.varying &&
            (row->before.least != row->before.most || row->after.least != row->after.most))
            tally.varying = row;
    }
    return tally;
}

static const char *plural(size_t count) {
    return count == 1 ? "" : "s";
}

/* Title */

static void say_counts(FILE *stream, const struct tally *tally, size_t common) {
    size_t worse = tally->counts[DIFF_WORSE];
    size_t better = tally->counts[DIFF_BETTER];
    if (worse > 0 && better > 0)
        fprintf(stream, "%zu of %zu benchmarks need%s more memory, %zu need%s less", worse,
                common, worse == 1 ? "s" : "", better, better == 1 ? "s" : "");
    else
        fprintf(stream, "%zu of %zu benchmarks need%s %s memory than before", worse + better,
                common, worse + better == 1 ? "s" : "", worse > 0 ? "more" : "less");
}

static void say_change(FILE *stream, const struct diff_row *row, const char *name) {
    char bytes[SIZES_TEXT_BYTES + 1];
    int64_t change = change_of(row);
    fprintf(stream, "%s needs %s %s memory at its peak", name,
            bytes_text(bytes, change < 0 ? -change : change), change < 0 ? "less" : "more");
}

static void say_title(FILE *stream, const struct diff *diff, bool two_sides,
                      const struct tally *tally, const char *name) {
    char bytes[SIZES_TEXT_BYTES + 1];
    size_t changed = tally->counts[DIFF_WORSE] + tally->counts[DIFF_BETTER];
    if (!tally->largest)
        fputs(two_sides ? "The two have no benchmark in common" : "No benchmark was measured",
              stream);
    else if (!two_sides && diff->row_count == 1)
        fprintf(stream, "%s needs %s at its peak", name,
                bytes_text(bytes, tally->largest->after.peak_added));
    else if (!two_sides)
        fprintf(stream, "%zu measurements; %s needs most, %s at its peak", diff->row_count,
                name, bytes_text(bytes, tally->largest->after.peak_added));
    else if (changed == 0 && tally->noisy > 0)
        fputs("Nothing changed beyond what repeats differ by", stream);
    else if (changed == 0)
        fprintf(stream, "%s memory at the peak is the same, to the byte",
                diff->common_count == 1 ? name : "Every benchmark's");
    else if (diff->common_count == 1)
        say_change(stream, tally->largest, name);
    else
        say_counts(stream, tally, diff->common_count);
}

/* Lead */

/* ": 4.2 times as much", ": 78.4 % less". */
static void say_ratio(FILE *stream, const struct diff_row *row) {
    if (!isfinite(row->ratio) || row->before.peak_added <= 0)
        return;
    if (row->ratio >= 2)
        fprintf(stream, ", %.3g times as much", row->ratio);
    else if (row->ratio != 1.0)
        fprintf(stream, ", %.3g\u00a0%% %s", 100 * fabs(row->ratio - 1),
                row->ratio > 1 ? "more" : "less");
}

static void say_site(FILE *stream, const struct callsite *site) {
    char *frame = site->node != 0 ? render_telling(site) : NULL;
    fputs(frame ? frame : render_no_stack(site), stream);
    free(frame);
}

static void say_changed_site(FILE *stream, const struct diff_row *row) {
    char bytes[SIZES_TEXT_BYTES + 1];
    for (size_t i = 0; i < row->site_count; i++) {
        const struct diff_site *site = &row->sites[i];
        int64_t change = site->after_bytes - site->before_bytes;
        if ((change > 0) != (change_of(row) > 0))
            continue;
        fprintf(stream, " The largest part of it, %s %s, is at ",
                bytes_text(bytes, change < 0 ? -change : change), change < 0 ? "less" : "more");
        say_site(stream, &site->site);
        fputs(!site->in_before  ? ", which is new."
              : !site->in_after ? ", which holds nothing any more."
                                : ".",
              stream);
        return;
    }
}

static void say_comparison(FILE *stream, const struct diff_row *row) {
    char before[SIZES_TEXT_BYTES + 1], after[SIZES_TEXT_BYTES + 1];
    fprintf(stream, "It was %s and is %s", bytes_text(before, row->before.peak_added),
            bytes_text(after, row->after.peak_added));
    if (row->status == DIFF_SAME) {
        fputs(", the same to the byte.", stream);
        return;
    }
    say_ratio(stream, row);
    fputc('.', stream);
    if (row->explained)
        say_changed_site(stream, row);
}

static int say_largest_site(FILE *stream, const struct diff_value *value) {
    char bytes[SIZES_TEXT_BYTES + 1];
    struct callsite_list list;
    if (!value->region->has_rows)
        return 0;
    int r = site_data_collect(value, &list);
    if (r < 0)
        return r;
    int64_t held = list.count > 0 ? list.items[0].peak.bytes - list.items[0].start.bytes : 0;
    if (held > 0 && value->peak_added > 0) {
        fprintf(stream, " The largest part of it, %s (%.3g\u00a0%%), is held by ",
                bytes_text(bytes, held), 100.0 * (double)held / (double)value->peak_added);
        say_site(stream, &list.items[0]);
        fputc('.', stream);
    }
    free(list.items);
    return 0;
}

static int say_one_side(FILE *stream, const struct diff_value *value) {
    char added[SIZES_TEXT_BYTES + 1], start[SIZES_TEXT_BYTES + 1], net[SIZES_TEXT_BYTES + 1];
    const struct profile_totals *heap = &value->region->totals[TRACE_HEAP];
    int64_t kept = profile_net(heap);
    fprintf(stream, "At its peak it had %s on top of the %s that was live when it began.",
            bytes_text(added, value->peak_added), bytes_text(start, heap->start.bytes));
    int r = say_largest_site(stream, value);
    if (kept > 0)
        fprintf(stream, " When it ended, %s more were live than when it began.",
                bytes_text(net, kept));
    else
        fputs(" When it ended, no more was live than when it began.", stream);
    return r;
}

/* What was said, unless that went wrong. */
static char *text_take(struct textstream *text, int r) {
    char *said = textstream_take(text);
    if (r == 0)
        return said;
    free(said);
    return NULL;
}

char *headline_row(const struct diff_row *row) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    int r = 0;
    if (!stream)
        return NULL;
    if (row->before.run && row->after.run)
        say_comparison(stream, row);
    else
        r = say_one_side(stream, row->after.run ? &row->after : &row->before);
    return text_take(&text, r);
}

static void say_lead(FILE *stream, const struct diff *diff, bool two_sides,
                     const struct tally *tally, const char *name, const char *about_largest) {
    size_t changed = tally->counts[DIFF_WORSE] + tally->counts[DIFF_BETTER];
    size_t rows = two_sides ? diff->common_count : diff->row_count;
    if (!tally->largest)
        fputs("Benchmarks are matched by name, parameters and region.", stream);
    else if (two_sides && changed == 0)
        fprintf(stream, "%zu benchmark%s compared, in the bytes that %s added at the peak.",
                rows, plural(rows), rows == 1 ? "it" : "each");
    else if (rows == 1)
        fputs(about_largest, stream);
    else
        fprintf(stream, "%s is %s. %s", two_sides ? "The largest change" : "The largest", name,
                about_largest);
    if (two_sides && tally->counts[DIFF_ADDED] > 0)
        fprintf(stream, " %zu %s new.", tally->counts[DIFF_ADDED],
                tally->counts[DIFF_ADDED] == 1 ? "is" : "are");
    if (two_sides && tally->counts[DIFF_REMOVED] > 0)
        fprintf(stream, " %zu %s not there any more.", tally->counts[DIFF_REMOVED],
                tally->counts[DIFF_REMOVED] == 1 ? "is" : "are");
}

/* Advice */

static int say_unfit(FILE *stream, const struct diff_row *row) {
    const struct diff_value *value = row->after.unfit ? &row->after : &row->before;
    char *name = render_row_name(row);
    char *why = render_unfit(value->unfit);
    bool known = name && why;
    if (known)
        fprintf(stream, "Take the numbers with care: %s%s: %s.", name,
                !row->before.run || !row->after.run ? ""
                : value == &row->after              ? " (after)"
                                                    : " (before)",
                why);
    free(name);
    free(why);
    return known ? 0 : -ENOMEM;
}

static void say_judgement(FILE *stream, const struct tally *tally) {
    char floor[SIZES_TEXT_BYTES + 1];
    size_t worse = tally->counts[DIFF_WORSE];
    bytes_text(floor, GATE_MAX_ADDED_BYTES);
    if (tally->alarming > 0)
        fprintf(stream,
                "Worth a look: %zu benchmark%s grew by more than %.3g\u00a0%% and %s, the "
                "limits that "
                "votreport "
                "gate has when it is told none.",
                tally->alarming, plural(tally->alarming), 100 * (GATE_MAX_RATIO - 1), floor);
    else if (worse == 0 && tally->noisy > 0)
        fputs("No reason to worry yet: the differences may be chance, and more repeats would "
              "tell (votreport run --repeat).",
              stream);
    else if (worse > 0)
        fprintf(stream,
                "No reason to worry: whatever grew did so by less than %.3g\u00a0%% or %s, the "
                "limits "
                "that votreport gate has when it is told none.",
                100 * (GATE_MAX_RATIO - 1), floor);
    else
        fputs("No reason to worry: nothing needs more memory than before.", stream);
}

static int say_advice(FILE *stream, bool two_sides, const struct tally *tally) {
    char least[SIZES_TEXT_BYTES + 1], most[SIZES_TEXT_BYTES + 1];
    if (tally->unfit)
        return say_unfit(stream, tally->unfit);
    if (two_sides && tally->largest)
        say_judgement(stream, tally);
    else
        fputs("Nothing was missed: the recorder saw every allocation and every free.", stream);
    if (!tally->varying)
        return 0;
    const struct diff_row *row = tally->varying;
    const struct diff_value *value =
        row->after.least != row->after.most ? &row->after : &row->before;
    char *name = render_row_name(row);
    if (!name)
        return -ENOMEM;
    fprintf(stream, " Repeats of %s differ, from %s to %s; the median counts.", name,
            bytes_text(least, value->least), bytes_text(most, value->most));
    free(name);
    return 0;
}

static void judge(struct headline *headline, const struct tally *tally, bool two_sides) {
    size_t worse = tally->counts[DIFF_WORSE];
    size_t better = tally->counts[DIFF_BETTER];
    static const struct {
        enum headline_tone tone;
        const char *verdict;
    } kinds[] = {
        {HEADLINE_WORSE, "Take with care"}, {HEADLINE_WORSE, "Worth a look"},
        {HEADLINE_PLAIN, "Slightly more"},  {HEADLINE_BETTER, "Less memory"},
        {HEADLINE_PLAIN, "No change"},      {HEADLINE_PLAIN, "Measured exactly"},
        {HEADLINE_PLAIN, "Within noise"},
    };
    size_t kind = tally->unfit                    ? 0
                  : !two_sides || !tally->largest ? 5
                  : tally->alarming > 0           ? 1
                  : worse > 0                     ? 2
                  : better > 0                    ? 3
                  : tally->noisy > 0              ? 6
                                                  : 4;
    headline->tone = kinds[kind].tone;
    headline->verdict =
        two_sides && !tally->largest ? "Nothing to compare" : kinds[kind].verdict;
}

/* One text by one of the functions above. */
static char *say(const struct diff *diff, bool two_sides, const struct tally *tally,
                 const char *name, const char *about_largest, char part) {
    struct textstream text;
    int r = 0;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    if (part == 't')
        say_title(stream, diff, two_sides, tally, name);
    else if (part == 'l')
        say_lead(stream, diff, two_sides, tally, name, about_largest);
    else
        r = say_advice(stream, two_sides, tally);
    return text_take(&text, r);
}

int headline_make(const struct diff *diff, bool two_sides, struct headline *ret_headline) {
    struct tally tally = tally_make(diff, two_sides);
    struct headline headline = {0};
    char *name = tally.largest ? render_row_name(tally.largest) : strdup("");
    char *about = tally.largest ? headline_row(tally.largest) : strdup("");
    if (name && about) {
        headline.title = say(diff, two_sides, &tally, name, about, 't');
        headline.lead = say(diff, two_sides, &tally, name, about, 'l');
        headline.advice = say(diff, two_sides, &tally, name, about, 'a');
    }
    free(name);
    free(about);
    if (!headline.title || !headline.lead || !headline.advice) {
        headline_finish(&headline);
        return -ENOMEM;
    }
    judge(&headline, &tally, two_sides);
    *ret_headline = headline;
    return 0;
}

void headline_finish(struct headline *headline) {
    free(headline->title);
    free(headline->lead);
    free(headline->advice);
    *headline = (struct headline){0};
}
