/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Compiler attributes behind names: export, must-use, inline, hints. GCC and Clang. */
#ifndef FIRN_DETAIL_ATTRIBUTES_H
#define FIRN_DETAIL_ATTRIBUTES_H

#if !defined(__GNUC__)
#error "firn needs GCC or Clang: it builds on their atomic builtins"
#endif

#ifndef FIRN_API
#define FIRN_API __attribute__((visibility("default")))
#endif
#define FIRN_MUST_USE __attribute__((warn_unused_result))

#define FIRNI_INLINE static inline __attribute__((always_inline, unused))
#define FIRNI_COLD __attribute__((cold, noinline))
#define FIRNI_NOINLINE __attribute__((noinline))
#define FIRNI_LIKELY(x) __builtin_expect(!!(x), 1)
#define FIRNI_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A cache line, with the neighbour that the adjacent-line prefetcher brings along. */
#define FIRNI_LINE 128
#define FIRNI_ALIGNED(n) __attribute__((aligned(n)))

#endif
