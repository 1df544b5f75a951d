// SPDX-License-Identifier: MIT
// `cardless trace --html`: a recorded run as one HTML page, which needs nothing but a browser.
#pragma once

#include "trace_model.h"

// Writes the page. Returns false after a message if it cannot.
bool trace_write_html(const struct trace_model *model, const char *path);
