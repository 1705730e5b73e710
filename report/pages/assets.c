/* SPDX-License-Identifier: BSD-3-Clause */
/* assets.c: the files themselves; report/meson.build makes C literals of them. */
#include "assets.h"

/* ISO C promises 4095 bytes of string; every compiler we build with takes whole files. */
#pragma GCC diagnostic ignored "-Woverlength-strings"

const char asset_template[] =
#include "page.html.h"
    ;

const char asset_style[] =
#include "page.css.h"
    ;

/* The order matters: the last begins at once, and needs the classes of the others. */
// clang-format off
const char asset_script[] =
#include "format.js.h"
#include "tree.js.h"
#include "flame.js.h"
#include "timeline.js.h"
#include "sites.js.h"
#include "page.js.h"
    ;
// clang-format on
