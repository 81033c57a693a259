/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The 64-bit atomic word and the operations on it, all relaxed. Built on compiler builtins. */
#ifndef FIRN_DETAIL_ATOMIC_H
#define FIRN_DETAIL_ATOMIC_H

/* A back end of its own replaces this file whole: src/atomic/ck.h, tests/model/relacy_atomic.h. */
#ifdef FIRNI_ATOMIC_HEADER
#include FIRNI_ATOMIC_HEADER
#else

#include <stdint.h>

#include <firn/detail/attributes.h>

/*
 * Every shared word of the library is of this type and is touched only through these
 * operations. There is no ordered form: no word publishes anything but itself, so nothing
 * pairs with anything. docs/memory-model.md lists every word with its writers and readers.
 */
struct firni_atomic64 {
	uint64_t value FIRNI_ALIGNED(8);
};

/* Words are shared between processes: a lock hidden in a library would be a lock per process. */
#if __GCC_ATOMIC_LLONG_LOCK_FREE != 2
#error "firn needs 64-bit atomics that are always lock-free"
#endif

FIRNI_INLINE uint64_t
firni_atomic64_load(const struct firni_atomic64 *word)
{
	return __atomic_load_n(&word->value, __ATOMIC_RELAXED);
}

FIRNI_INLINE void
firni_atomic64_store(struct firni_atomic64 *word, uint64_t value)
{
	__atomic_store_n(&word->value, value, __ATOMIC_RELAXED);
}

FIRNI_INLINE uint64_t
firni_atomic64_exchange(struct firni_atomic64 *word, uint64_t value)
{
	return __atomic_exchange_n(&word->value, value, __ATOMIC_RELAXED);
}

FIRNI_INLINE uint64_t
firni_atomic64_fetch_add(struct firni_atomic64 *word, uint64_t value)
{
	return __atomic_fetch_add(&word->value, value, __ATOMIC_RELAXED);
}

/* True if the word was *seen and is now desired; else *seen is what it was. May fail by itself. */
FIRNI_INLINE int
firni_atomic64_cas_weak(struct firni_atomic64 *word, uint64_t *seen, uint64_t desired)
{
	return __atomic_compare_exchange_n(&word->value, seen, desired, 1, __ATOMIC_RELAXED,
	                                   __ATOMIC_RELAXED);
}

#endif
#endif
