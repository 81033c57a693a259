/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The atomic word on Relacy: the third back end behind firn/detail/atomic.h, for exhaustive search. */
#ifndef FIRN_MODEL_RELACY_ATOMIC_H
#define FIRN_MODEL_RELACY_ATOMIC_H

#include <stdint.h>

#include <relacy/relacy.hpp>

#include <firn/detail/attributes.h>

struct firni_atomic64 {
	rl::atomic<uint64_t> value;
};

static inline uint64_t
firni_atomic64_load(const struct firni_atomic64 *word)
{
	return word->value(RL_INFO).load(rl::mo_relaxed);
}

static inline void
firni_atomic64_store(struct firni_atomic64 *word, uint64_t value)
{
	word->value(RL_INFO).store(value, rl::mo_relaxed);
}

static inline uint64_t
firni_atomic64_exchange(struct firni_atomic64 *word, uint64_t value)
{
	return word->value(RL_INFO).exchange(value, rl::mo_relaxed);
}

static inline uint64_t
firni_atomic64_fetch_add(struct firni_atomic64 *word, uint64_t value)
{
	return word->value(RL_INFO).fetch_add(value, rl::mo_relaxed);
}

/* The weak form: the search also lets it fail by itself. */
static inline int
firni_atomic64_cas_weak(struct firni_atomic64 *word, uint64_t *seen, uint64_t desired)
{
	return word->value(RL_INFO).compare_exchange_weak(*seen, desired, rl::mo_relaxed);
}

#endif
