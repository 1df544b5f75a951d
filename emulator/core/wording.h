// SPDX-License-Identifier: MIT
// The last change to a message before it is written: grammar.
#pragma once

// Changes "1 bytes" to "1 byte", and likewise for other units. Texts between quotation marks, such
// as paths, stay as they are.
void em_wording_singular(char *text);

// The article of a noun phrase: "an" before a vowel, else "a". Names that come from a list should
// be printed with it.
const char *em_wording_article(const char *noun);
