// SPDX-License-Identifier: MIT
// Macros that say which sanitizer this program is built with, because some tests cannot run
// under one.
#pragma once

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
#define THREAD_SANITIZER 1
#else
#define THREAD_SANITIZER 0
#endif
#if THREAD_SANITIZER || defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif
