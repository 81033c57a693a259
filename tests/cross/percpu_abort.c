/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The restartable sequence is interrupted before each of its instructions, one after the other:
 * nothing has changed then, and another take comes first. For aarch64, where CI has an emulator
 * that knows no restartable sequences: a trap is put into the code, and the signal's handler does
 * what the kernel would. On a kernel that restarts sequences it finds that done.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <firn/detail/percpu.h>

#define TRAP 0xd4200000u /* brk #0 */

struct descriptor {
	uint32_t version;
	uint32_t flags;
	uint64_t start;
	uint64_t length;
	uint64_t abort;
};

/* The linker's names for the ends of the section: one take below makes one descriptor. */
extern const struct descriptor __start___rseq_cs[] __attribute__((visibility("hidden")));
extern const struct descriptor __stop___rseq_cs[] __attribute__((visibility("hidden")));

static struct firni_atomic64 word;
static struct firni_atomic64 closed;
static int32_t cpu;

static uint32_t *volatile trapped;
static volatile uint32_t original;
static volatile int trap_hits;
static volatile uint64_t word_then; /* when the trap was met */
static const char *volatile fault;

static __attribute__((noinline)) enum firni_percpu
take_one(uint64_t floor, uint64_t bound, uint64_t count, struct firni_take *take)
{
	return firni_percpu_take(cpu, &word, &closed, floor, bound, count, take);
}

static void
write_code(uint32_t *at, uint32_t instruction)
{
	*(volatile uint32_t *)at = instruction;
	__builtin___clear_cache((char *)at, (char *)(at + 1));
}

/* The kernel's part, and then another thread's on the same processor. */
static void
on_trap(int number, siginfo_t *info, void *context)
{
	mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
	const struct descriptor *cs = (const struct descriptor *)(uintptr_t)firni_rseq()->rseq_cs;
	uint32_t signature;

	(void)number;
	(void)info;
	trap_hits++;
	write_code(trapped, original);
	word_then = word.value;
	if (cs != NULL) {
		if (cs != __start___rseq_cs)
			fault = "the area points to something else";
		memcpy(&signature, (const char *)(uintptr_t)cs->abort - sizeof(signature), sizeof(signature));
		if (signature != RSEQ_SIG)
			fault = "no signature before the abort address";
		if (machine->pc - cs->start < cs->length)
			machine->pc = cs->abort;
		firni_rseq()->rseq_cs = 0;
	}
	word.value += 1000;
}

static int
check(int good, const char *what, unsigned at)
{
	if (!good)
		printf("instruction %u: %s\n", at, what);
	return good;
}

/* The trap before one instruction: of the sequence, or the first after it. */
static int
interrupt_at(unsigned at, unsigned instructions)
{
	struct firni_take take;

	trapped = (uint32_t *)(uintptr_t)__start___rseq_cs->start + at;
	original = *trapped;
	trap_hits = 0;
	word.value = 5;
	write_code(trapped, TRAP);
	enum firni_percpu status = take_one(3, 5000, 2, &take);
	int committed = at == instructions;
	int good = check(trap_hits == 1, "was not met, or met again", at) & check(fault == NULL, fault, at) &
	           check(word_then == (committed ? 7 : 5), "the word had changed too early or not yet", at) &
	           check(status == (committed ? FIRNI_PERCPU_OK : FIRNI_PERCPU_AGAIN), "a wrong outcome", at) &
	           check(firni_rseq()->rseq_cs == 0, "the area was not cleared", at) &
	           check(word.value == word_then + 1000, "another's take was lost", at);

	if (committed)
		return good & check(take.first == 5, "a wrong value", at);
	/* Again, as firni_shards_next_n_at does: after what the other took. */
	status = take_one(3, 5000, 2, &take);
	return good & check(status == FIRNI_PERCPU_OK && take.first == 1005 && word.value == 1007, "no second try", at);
}

/* The rule, and every refusal. */
static int
undisturbed(void)
{
	struct firni_take take;
	int good;

	word.value = 5;
	good = check(take_one(0, 100, 3, &take) == FIRNI_PERCPU_OK && take.first == 5 && take.seen == 5, "word above floor", 0);
	good &= check(take_one(50, 100, 50, &take) == FIRNI_PERCPU_OK && take.first == 50 && take.seen == 8, "floor above word", 0);
	good &= check(word.value == 100, "the last word below the bound", 0);
	good &= check(take_one(0, 100, 1, &take) == FIRNI_PERCPU_REFUSED && take.seen == 100, "at the bound", 0);
	good &= check(take_one(0, 101, 2, &take) == FIRNI_PERCPU_REFUSED, "over the bound by its last", 0);
	good &= check(take_one(200, 150, 1, &take) == FIRNI_PERCPU_REFUSED, "a floor over the bound", 0);
	good &= check(take_one(0, UINT64_MAX, UINT64_MAX, &take) == FIRNI_PERCPU_REFUSED, "a sum that would wrap", 0);
	closed.value = 1;
	good &= check(take_one(0, 1000, 1, &take) == FIRNI_PERCPU_CLOSED, "closed", 0);
	closed.value = 0;
	cpu++;
	good &= check(take_one(0, 1000, 1, &take) == FIRNI_PERCPU_AGAIN, "another processor's", 0);
	cpu--;
	return good & check(word.value == 100 && firni_rseq()->rseq_cs == 0, "a refusal changed something", 0);
}

int
main(void)
{
	const struct descriptor *cs = __start___rseq_cs;
	unsigned instructions = (unsigned)(cs->length / 4);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = cs->start & ~(page - 1);
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	if (__stop___rseq_cs - cs != 1 || cs->version != 0 || cs->flags != 0) {
		printf("not one descriptor of the known form\n");
		return 1;
	}
	/* Where nobody writes it, the area is ours: as if we ran on processor 0 for ever. */
	if (__rseq_size == 0)
		*(volatile uint32_t *)&firni_rseq()->cpu_id = 0;
	cpu = firni_rseq_cpu();
	if (mprotect((void *)first, cs->start + cs->length + 64 - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0 ||
	    sigaction(SIGTRAP, &action, NULL) != 0) {
		perror("code that can be written to, and a signal");
		return 1;
	}
	int good = undisturbed();

	/* Not past branches that are not taken: the straight path has no other instructions. */
	for (unsigned at = 0; at <= instructions; at++)
		good &= interrupt_at(at, instructions);
	if (good)
		printf("interrupted before each of %u instructions and after the last: nothing lost, nothing twice\n",
		       instructions);
	return !good;
}
