/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state file's protocol (docs/state-file.md, M1 to M5): two processes share one file,
 * die at any step, and the power is cut at any step.
 *
 * Two slots in the page cache and on the disk; a memory that lives while somebody has it; ROLE
 * and LIFE, which die with their holder. Words are small numbers; `end` is a witness, above
 * everything issued. Checked: no word is issued twice, and at any moment the disk alone, with
 * any of the unsynced slots on it or not, comes back at or above `end`.
 *
 * Mutants: PUBLISH_EARLY (M1), NO_RESYNC (M3), CLEAN_UNSEALED (M5), NO_LIFE (M2). M4 defends against a file
 * that is replaced from outside, which nothing here does; tests/unit/state_test.c does.
 */
#define TOP 5          /* words are 0 .. TOP-1 */
#define NOBODY 0

byte cache_mark[2], cache_seq[2];   /* what the kernel would read */
byte disk_mark[2], disk_seq[2];     /* what a power cut leaves for sure */
byte cache_id[2], disk_id[2];       /* the memory that the slot was written for */
bit dirty[2];

/* The shared memory: one at a time is what is to be shown; so there are two places for it. */
byte word[2], limit[2], synced[2], ident[2];
bit sealed[2];
byte users[2];         /* who holds LIFE on it */
byte next_ident = 1;

byte role = NOBODY;    /* 1, 2: the process that holds it */
byte end = 0;
byte deaths = 0, opens = 0;
#ifndef OPENS
#define OPENS 4        /* 5: 69,648,277 states, a minute and a half */
#endif

#define newest (cache_seq[1] > cache_seq[0] -> 1 : 0)
#define disk_newest (disk_seq[1] > disk_seq[0] -> 1 : 0)

/*
 * A dirty slot may have reached the disk or not, or half: then it does not count, and the other
 * one must hold. Bytes written over the very same bytes cannot tear.
 */
#define at_risk(i) (dirty[i] && disk_seq[i] != cache_seq[i])

inline survive(i)
{
	assert(!(at_risk(0) && at_risk(1)));
	if
	:: at_risk(0) -> assert(disk_mark[1] >= end)
	:: at_risk(1) -> assert(disk_mark[0] >= end)
	:: else -> assert(disk_mark[disk_newest] >= end)
	fi
}

inline sync_slot(i)
{
	disk_mark[i] = cache_mark[i];
	disk_seq[i] = cache_seq[i];
	disk_id[i] = cache_id[i];
	dirty[i] = 0
}

inline put_slot(i, m, s, id)
{
	cache_mark[i] = m;
	cache_seq[i] = s;
	cache_id[i] = id;
	dirty[i] = 1;
	survive(0)
}

/* Dying drops ROLE and LIFE; the word in memory stays for whoever else has it. */
inline die()
{
	if
	:: role == me -> role = NOBODY
	:: else
	fi;
	if
	:: have -> users[mem]--
	:: else
	fi;
	have = 0;
	deaths++
}

proctype process(byte me)
{
	byte mem = 0;      /* which memory is ours */
	bit have = 0;
	byte s, m, slot, e;

start:
	do
	:: atomic { opens < OPENS -> opens++ }; goto open
	:: goto done
	od;

open:
	atomic { role == NOBODY -> role = me };
	/* Somebody alive? Then join; else found. */
	if
#ifdef NO_LIFE
	:: atomic { users[0] + users[1] >= 0 -> mem = (users[0] == 0 -> 0 : 1) }
#else
	:: atomic { users[0] + users[1] > 0 -> mem = (users[0] > 0 -> 0 : 1); users[mem]++; have = 1; role = NOBODY };
	   goto issue
	:: atomic { users[0] + users[1] == 0 -> mem = 0 }
#endif
	fi;
	/* Found: new memory at the newest mark; the newest slot is made durable before the other is touched. */
	atomic {
		slot = newest;
		s = cache_seq[slot];
		m = cache_mark[slot];
		users[mem]++;
		have = 1;
		word[mem] = m;
		limit[mem] = m;
		sealed[mem] = 0;
		synced[mem] = 0;
		ident[mem] = next_ident;
		next_ident++
	};
	if
	:: atomic { deaths < 3 -> die() }; goto start
	:: true
	fi;
#ifndef NO_RESYNC
	atomic { put_slot(slot, m, s, cache_id[slot]) };
	if
	:: atomic { deaths < 3 -> die() }; goto start
	:: true
	fi;
	atomic { sync_slot(slot); survive(0) };
#endif
	goto extend;

issue:
	do
	/* Issue one word: test and take are one step, which the word's own model shows to be right. */
	:: atomic { !sealed[mem] && word[mem] < limit[mem] ->
			assert(word[mem] >= end);
			word[mem]++;
			end = word[mem];
			survive(0) }
	/* Renew. */
	:: atomic { role == NOBODY && !sealed[mem] && limit[mem] < TOP -> role = me };
	   goto renew
	/* Close. */
	:: atomic { role == NOBODY -> role = me };
	   goto finish
	:: atomic { deaths < 3 -> die() }; goto start
	od;

renew:
	atomic { slot = newest; s = cache_seq[slot]; m = cache_mark[slot] };
	/* The chain: the slot was written for this memory, and the file has not gone back. */
	if
	:: atomic { cache_id[slot] != ident[mem] || s < synced[mem] -> sealed[mem] = 1; role = NOBODY }; goto issue
	:: atomic { cache_id[slot] == ident[mem] && s >= synced[mem] -> skip }
	fi;
#ifndef NO_RESYNC
	if
	:: s != synced[mem] ->
		atomic { put_slot(slot, m, s, cache_id[slot]) };
		if
		:: atomic { deaths < 3 -> die() }; goto start
		:: true
		fi;
		atomic { sync_slot(slot); survive(0) }
	:: else
	fi;
#endif

extend:
	/* The next mark, in the other slot: written, synced, and only then published. */
	m = (m + 2 > TOP -> TOP : m + 2);
	slot = 1 - slot;
	atomic { put_slot(slot, m, s + 1, ident[mem]) };
#ifdef PUBLISH_EARLY
	atomic { limit[mem] = m };
#endif
	if
	:: atomic { deaths < 3 -> die() }; goto start
	:: true
	fi;
	atomic { sync_slot(slot); survive(0) };
	if
	:: atomic { deaths < 3 -> die() }; goto start
	:: true
	fi;
	atomic { synced[mem] = s + 1; if :: limit[mem] < m -> limit[mem] = m :: else fi; role = NOBODY };
	goto issue;

finish:
	atomic { slot = newest; s = cache_seq[slot]; m = cache_mark[slot] };
	if
	:: atomic { users[mem] == 1 && cache_id[slot] == ident[mem] && s >= synced[mem] && !sealed[mem] -> skip }
	:: atomic { !(users[mem] == 1 && cache_id[slot] == ident[mem] && s >= synced[mem] && !sealed[mem]) ->
			role = NOBODY; users[mem]--; have = 0 };
	   goto start
	fi;
	if
	:: s != synced[mem] ->
		atomic { put_slot(slot, m, s, cache_id[slot]) };
		atomic { sync_slot(slot); survive(0) }
	:: else
	fi;
#ifdef CLEAN_UNSEALED
	/* A thread that is past its checks issues after the word was read. */
	e = word[mem];
	if
	:: atomic { word[mem] < limit[mem] -> assert(word[mem] >= end); word[mem]++; end = word[mem] }
	:: true
	fi;
#else
	atomic { e = word[mem]; sealed[mem] = 1 };
#endif
	slot = 1 - slot;
	atomic { put_slot(slot, e, s + 1, ident[mem]) };
	if
	:: atomic { deaths < 3 -> die() }; goto start
	:: true
	fi;
	atomic { sync_slot(slot); survive(0) };
	atomic { role = NOBODY; users[mem]--; have = 0 };
	goto start;

done:
	skip
}

init {
	atomic {
		cache_seq[1] = 1; cache_seq[0] = 2;
		disk_seq[1] = 1; disk_seq[0] = 2;
		run process(1);
		run process(2)
	}
}
