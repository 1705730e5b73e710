/* SPDX-License-Identifier: BSD-3-Clause */
/* assets.h: page.html, page.css and the scripts of this folder, as the build embedded them. */
#pragma once

extern const char asset_template[]; /* with @NAME@ for what page.c fills in */
extern const char asset_style[];
extern const char asset_script[]; /* all of them, in the order in which they need each other */
