// SPDX-License-Identifier: MIT
// Writes texts into XML and JSON. Bytes that are not UTF-8, and characters that the format forbids,
// become U+FFFD, because texts contain names that the program chose.
#pragma once
#include <stddef.h>
#include <stdio.h>

// As the content of an element, or as a value between double quotation marks.
void xml_text(FILE *to, const char *text);
// Without the quotation marks. `<` is escaped too, so that no text ends a script element of HTML.
void json_text(FILE *to, const char *text);
// With the quotation marks. NULL is an empty text.
void json_string(FILE *to, const char *text, size_t size_B);
// The first `size_B` bytes of a text, or all before its final 0, on one line: control characters
// and bytes that are not UTF-8 as \xNN. It is cut if `out` is full.
void escape_line(const char *text, size_t size_B, char *out, size_t out_B);
// With the characters that a URI does not allow in a path as %XX.
void uri_path(FILE *to, const char *path);
