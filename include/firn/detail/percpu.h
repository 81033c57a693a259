/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The per-processor word: the rule as a restartable sequence, without a lock prefix. */
#ifndef FIRN_DETAIL_PERCPU_H
#define FIRN_DETAIL_PERCPU_H

#include <stdint.h>

#include <firn/detail/word.h>

#if (defined(__x86_64__) || defined(__AARCH64EL__)) && defined(__has_include)
#if __has_include(<sys/rseq.h>)
#define FIRNI_PERCPU 1
#endif
#endif

enum firni_percpu {
	FIRNI_PERCPU_OK,
	FIRNI_PERCPU_REFUSED, /* by the bound: take->seen says where the word stood */
	FIRNI_PERCPU_CLOSED,
	FIRNI_PERCPU_AGAIN    /* moved to another processor, or interrupted: nothing has changed */
};

#ifdef FIRNI_PERCPU
#include <sys/rseq.h>

/* This thread's area: registered by libc, written by the kernel. */
FIRNI_INLINE struct rseq *
firni_rseq(void)
{
	return (struct rseq *)(void *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

/*
 * The processor we run on, below 0 where the thread is not registered. Only a hint until it
 * is compared inside the sequence.
 */
FIRNI_INLINE int32_t
firni_rseq_cpu(void)
{
	return (int32_t)*(const volatile uint32_t *)&firni_rseq()->cpu_id;
}

/* What of firni_percpu_take is the processor's own: little-endian, as code is on both. */
#if defined(__x86_64__)
#define FIRNI_PERCPU_COUNT "er"
#define FIRNI_PERCPU_SEQUENCE \
	"leaq 3b(%%rip), %[scratch]\n\t" \
	"movq %[scratch], %[cs]\n" \
	"1:\n\t" \
	"cmpl %[cpu], %[cpu_id]\n\t" \
	"jne 6f\n\t" \
	"cmpq $0, %[closed]\n\t" \
	"jne 7f\n\t" \
	"movq %[word], %[seen]\n\t" \
	"movq %[floor], %[first]\n\t" \
	"cmpq %[first], %[seen]\n\t" \
	"cmovaq %[seen], %[first]\n\t" \
	"movq %[bound], %[scratch]\n\t" \
	"subq %[first], %[scratch]\n\t" \
	"jb 8f\n\t" \
	"cmpq %[count], %[scratch]\n\t" \
	"jb 8f\n\t" \
	"movq %[first], %[scratch]\n\t" \
	"addq %[count], %[scratch]\n\t" \
	"movq %[scratch], %[word]\n" \
	"2:\n\t" \
	"xorl %[status], %[status]\n" \
	"6:\n\t" \
	"movq $0, %[cs]\n\t" \
	"jmp 9f\n" \
	"7:\n\t" \
	"movl %[is_closed], %[status]\n\t" \
	"jmp 6b\n" \
	"8:\n\t" \
	"movl %[is_refused], %[status]\n\t" \
	"jmp 6b\n\t" \
	/* The signature that the kernel wants before an abort address, as an invalid instruction. */ \
	".byte 0x0f, 0xb9, 0x3d\n\t" \
	".long %c[signature]\n" \
	"4:\n\t" \
	"jmp 9f\n"
#else
#define FIRNI_PERCPU_COUNT "r"
#define FIRNI_PERCPU_SEQUENCE \
	"adrp %[scratch], 3b\n\t" \
	"add %[scratch], %[scratch], #:lo12:3b\n\t" \
	"str %[scratch], %[cs]\n" \
	"1:\n\t" \
	"ldr %w[scratch], %[cpu_id]\n\t" \
	"cmp %w[scratch], %w[cpu]\n\t" \
	"b.ne 6f\n\t" \
	"ldr %[scratch], %[closed]\n\t" \
	"cbnz %[scratch], 7f\n\t" \
	"ldr %[seen], %[word]\n\t" \
	"cmp %[seen], %[floor]\n\t" \
	"csel %[first], %[seen], %[floor], hi\n\t" \
	"subs %[scratch], %[bound], %[first]\n\t" \
	"b.lo 8f\n\t" \
	"cmp %[scratch], %[count]\n\t" \
	"b.lo 8f\n\t" \
	"add %[scratch], %[first], %[count]\n\t" \
	"str %[scratch], %[word]\n" \
	"2:\n\t" \
	"mov %w[status], wzr\n" \
	"6:\n\t" \
	"str xzr, %[cs]\n\t" \
	"b 9f\n" \
	"7:\n\t" \
	"mov %w[status], %[is_closed]\n\t" \
	"b 6b\n" \
	"8:\n\t" \
	"mov %w[status], %[is_refused]\n\t" \
	"b 6b\n\t" \
	/* The signature: a brk that nothing reaches. */ \
	".inst %c[signature]\n" \
	"4:\n\t" \
	"b 9f\n"
#endif

/*
 * firni_word_take for the word of one processor, with stores in place of swaps.
 *
 * Keeps     W1 and W2, see there: the values stored are the rule's.
 * Because   between the label 1 and the store before label 2 the kernel restarts at 4 whoever
 *           is preempted, migrated or given a signal. The processor number is compared inside.
 *           So of all threads that store to this word no two are inside at once: they run on
 *           one processor, one after the other, and each sees what the one before stored. The
 *           store is the last instruction and a single one: it happens or it does not.
 * Others    nobody but these sequences stores to the word while *closed is 0. Whoever closes it
 *           sets *closed, and then makes every processor leave its sequence (membarrier, which
 *           orders the two): a sequence that starts later reads 1, one that had started is
 *           restarted and reads 1. Only then does the closer touch the word.
 * Order     plain loads and stores, on a weakly ordered processor too. Whoever loads or stores
 *           the word runs on its processor, which sees its own stores in the order in which it
 *           made them, whichever thread it ran. *closed must be read before the store, and is:
 *           a store does not pass a branch on what was loaded. membarrier is a full barrier for
 *           the closer, and on every processor that it interrupts: what a sequence stored before
 *           it the closer sees, and what the closer stored (*closed) the next sequence sees.
 *           Who reads the word from outside sees it whole and as old as it may be: it is an
 *           aligned store of 64 bits. See docs/memory-model.md.
 * Stale     floor and bound as for firni_word_take.
 * Progress  a thread that is restarted without end (a debugger that steps) is the caller's to
 *           count: it takes the shard that is not a processor's.
 * Checked   tests/stress/shards_stress.c  tests/unit/shards_test.c  tests/package/rseq_test.py
 *           tests/cross/percpu_abort.c
 *
 * The area's pointer to the descriptor is cleared at the end, because the kernel reads what it
 * points to at the next preemption, when a library that was loaded may be gone.
 */
FIRNI_INLINE enum firni_percpu
firni_percpu_take(int32_t cpu, struct firni_atomic64 *word, const struct firni_atomic64 *closed, uint64_t floor,
                  uint64_t bound, uint64_t count, struct firni_take *take)
{
	struct rseq *area = firni_rseq();
	uint64_t seen = 0;
	uint64_t first = 0;
	uint64_t scratch;
	int status = FIRNI_PERCPU_AGAIN;

	__asm__ volatile(
		".pushsection __rseq_cs, \"aw\"\n\t"
		".balign 32\n"
		"3:\n\t"
		".long 0, 0\n\t"
		".quad 1f, 2f - 1f, 4f\n\t"
		".popsection\n\t"
		FIRNI_PERCPU_SEQUENCE
		"9:\n"
		: [status] "+r"(status), [seen] "+&r"(seen), [first] "+&r"(first), [scratch] "=&r"(scratch),
		  [word] "+m"(word->value), [cs] "=m"(area->rseq_cs)
		: [cpu] "r"(cpu), [cpu_id] "m"(area->cpu_id), [closed] "m"(closed->value), [floor] "r"(floor),
		  [bound] "r"(bound), [count] FIRNI_PERCPU_COUNT(count), [is_closed] "i"(FIRNI_PERCPU_CLOSED),
		  [is_refused] "i"(FIRNI_PERCPU_REFUSED), [signature] "i"(RSEQ_SIG)
		: "memory", "cc");
	take->seen = seen;
	take->first = first;
	return (enum firni_percpu)status;
}
#endif

#endif
