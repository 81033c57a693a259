/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The 64-bit atomic word on Concurrency Kit: the second back end behind firn/detail/atomic.h. */
#ifndef FIRNI_ATOMIC_CK_H
#define FIRNI_ATOMIC_CK_H

#include <ck_pr.h>
#include <stdint.h>

#include <firn/detail/attributes.h>

#if !defined(CK_F_PR_LOAD_64) || !defined(CK_F_PR_CAS_64_VALUE) || !defined(CK_F_PR_FAA_64)
#error "Concurrency Kit has no 64-bit atomics here; build with -Datomics=builtin"
#endif

struct firni_atomic64 {
	uint64_t value FIRNI_ALIGNED(8);
};

FIRNI_INLINE uint64_t
firni_atomic64_load(const struct firni_atomic64 *word)
{
	return ck_pr_load_64(&word->value);
}

FIRNI_INLINE void
firni_atomic64_store(struct firni_atomic64 *word, uint64_t value)
{
	ck_pr_store_64(&word->value, value);
}

FIRNI_INLINE uint64_t
firni_atomic64_exchange(struct firni_atomic64 *word, uint64_t value)
{
	return ck_pr_fas_64(&word->value, value);
}

FIRNI_INLINE uint64_t
firni_atomic64_fetch_add(struct firni_atomic64 *word, uint64_t value)
{
	return ck_pr_faa_64(&word->value, value);
}

FIRNI_INLINE int
firni_atomic64_cas_weak(struct firni_atomic64 *word, uint64_t *seen, uint64_t desired)
{
	return ck_pr_cas_64_value(&word->value, *seen, desired, seen);
}

#endif
