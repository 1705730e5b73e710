/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warnings.c: count, keep the first of each kind, tell them at the end of a table.
 *
 * Never allocates: a document full of mistakes costs what a clean one costs.
 */
#include "warnings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int warnings_add(struct warnings *warnings, struct problem *problem, enum warning_number number,
                 uint64_t lineno, const char *format, ...) {
    va_list arguments;
    if (warnings != NULL && !warnings->strict && warnings->counts[number]++ > 0)
        return 0;
    va_start(arguments, format);
    if (warnings == NULL || warnings->strict) {
        char text[PROBLEM_TEXT_BYTES];
        vsnprintf(text, sizeof(text), format, arguments);
        problem_set(problem, -EBADMSG, lineno, "%s", text);
    } else {
        warnings->linenos[number] = lineno;
        vsnprintf(warnings->texts[number], sizeof(warnings->texts[number]), format, arguments);
    }
    va_end(arguments);
    return problem->code;
}

int warnings_end_base64(struct warnings *warnings, struct problem *problem,
                        struct base64_decoder *decoder, unsigned char *out, size_t *ret_bytes) {
    if (!base64_decoder_rest(decoder, out, ret_bytes))
        return base64_decoder_end(decoder, problem);
    return warnings_add(warnings, problem, WARNING_PADDING, decoder->lineno,
                        "base64 ends without its padding '=', add it, or look whether the "
                        "stream is cut short");
}

void warnings_flush(struct warnings *warnings) {
    for (unsigned number = 0; number < WARNING_NUMBERS; number++) {
        const struct warning warning = {number, warnings->linenos[number],
                                        warnings->counts[number], warnings->texts[number]};
        warnings->counts[number] = 0;
        if (warning.count > 0 && warnings->warn != NULL)
            warnings->warn(warnings->context, &warning);
    }
}
