/* SPDX-License-Identifier: BSD-3-Clause */
/* render_gate.h: what gate found, for people, for scripts, and for CI's own ways to be told. */
#pragma once

#include "attributes.h"
#include "diff.h"
#include "gate.h"
#include "term.h"

/* Returns of all: 0, -ENOMEM, or -EIO when the stream failed. */
int render_gate_text(const struct term *term, const struct gate *gate,
                     const struct gate_limits *limits) _must_check_ _nonnull_;
int render_gate_json(FILE *stream, const struct gate *gate,
                     const struct gate_limits *limits) _must_check_ _nonnull_;

/* A summary in GitHub's Markdown, with the tree of every regression. */
int render_gate_markdown(FILE *stream, const struct gate *gate,
                         const struct gate_limits *limits) _must_check_ _nonnull_;

/*
 * Workflow commands for GitHub: an error for each regression at file and line of the call site
 * that grew most, relative to @root, the absolute path of the repository ("": not known, then
 * no file is named); and one for each benchmark that could not be judged.
 * https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
int render_gate_annotations(FILE *stream, const struct gate *gate,
                            const char *root) _must_check_ _nonnull_;

/*
 * JUnit's XML, in the form that Jenkins' xUnit schema has (junit-10.xsd): a test case for each
 * finding; a regression is a failure, what could not be judged an error.
 */
int render_gate_junit(FILE *stream, const struct gate *gate) _must_check_ _nonnull_;

/* "gate: pass: 0 of 2 benchmarks grew beyond ...", without the first word; free() it. */
char *render_gate_outcome(const struct gate *gate,
                          const struct gate_limits *limits) _must_check_ _nonnull_;

/* "votable.parse(format=binary): rss", the metric where it is not peak_added; free() it. */
char *render_finding_name(const struct gate_finding *finding) _must_check_ _nonnull_;

/*
 * Why @finding is what it is: "124 MiB after 29.9 MiB (+94.1 MiB, ratio 4.15)" and the reason
 * that it has. free() it.
 */
char *render_finding_words(const struct gate_finding *finding) _must_check_ _nonnull_;
