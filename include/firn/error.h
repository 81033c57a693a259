/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Every error of the library: its number, its class, its name and what to do about it. */
#ifndef FIRN_ERROR_H
#define FIRN_ERROR_H

#include <firn/detail/attributes.h>

/* What the caller should do about an error. */
enum firn_error_class {
	FIRN_CLASS_NONE = 0,     /* not an error */
	FIRN_CLASS_RETRY = 1,    /* call again later: time alone cures it */
	FIRN_CLASS_RENEW = 2,    /* this generator is used up: raise its limit or open a new one */
	FIRN_CLASS_CALL = 3,     /* the arguments are wrong: fix the call */
	FIRN_CLASS_OPERATOR = 4  /* a person must look: clock, file, disk or configuration */
};

/*
 * X(NAME, number, class, code, text). The code is the name of the error in conformance
 * vectors and in --json output; numbers and codes never change meaning.
 */
#define FIRN_ERRORS(X) \
	X(INVALID, -1, CALL, "invalid", \
	  "an argument is out of its documented range") \
	X(EXHAUSTED, -2, RETRY, "exhausted", \
	  "the rate outran the layout: the next ID would lead the clock by more than lead_ms_max; " \
	  "call again later, wait with firn_gen_next_wait, or use a layout with more sequence bits") \
	X(CLOCK_BACK, -3, RETRY, "clock_back", \
	  "the clock went back by more than lead_ms_max; " \
	  "wait until it has caught up, and check the host's time synchronisation") \
	X(FENCED, -4, RENEW, "fenced", \
	  "the generator has reached its limit; raise the limit or renew the state file") \
	X(TIME_OVER, -5, OPERATOR, "time_over", \
	  "the time field of the layout is used up; no further ID exists in this layout") \
	X(BEFORE_EPOCH, -6, OPERATOR, "before_epoch", \
	  "the clock reads a time before the layout's epoch; set the host's clock") \
	X(SEALED, -7, RENEW, "sealed", \
	  "the generator was sealed and will never issue again; open a new one") \
	X(FORKED, -8, RENEW, "forked", \
	  "this generator or range belongs to the parent process; open a new one in the child, with a node number of its own") \
	X(CLOCK, -9, OPERATOR, "clock_failed", \
	  "the clock could not be read or returned garbage") \
	X(UNSYNCHRONISED, -10, OPERATOR, "unsynchronised", \
	  "the kernel's estimate of the clock error is above the bound asked for; " \
	  "start a time daemon, or raise or drop the bound") \
	X(AHEAD, -11, RETRY, "ahead", \
	  "the observed ID lies further ahead of the clock than lead_ms_max; nothing was changed") \
	X(CONFLICT, -12, OPERATOR, "conflict", \
	  "an ID of this generator's own node lies above everything this generator issued: " \
	  "somebody else issues with the same node number; the word was lifted above it") \
	X(RANGE, -13, CALL, "range", \
	  "the ID has bits set outside the layout: it was not made with this layout") \
	X(NODE, -14, CALL, "node", \
	  "the node number does not fit the layout's node fields; it is never masked") \
	X(LAYOUT, -15, CALL, "layout", \
	  "the layout is not well formed") \
	X(NO_MEMORY, -16, RETRY, "no_memory", \
	  "memory could not be allocated") \
	X(SYSTEM, -17, OPERATOR, "system", \
	  "a system call failed; errno says why") \
	X(UNSUPPORTED, -18, OPERATOR, "unsupported", \
	  "the kernel or platform lacks what this mode needs") \
	X(STATE_DAMAGED, -19, OPERATOR, "state_damaged", \
	  "neither slot of the state file is intact; it is never reset silently: " \
	  "move it away only if no ID made with this node number can still be in use, " \
	  "or open a new file under another node number") \
	X(STATE_SIZE, -20, OPERATOR, "state_size", \
	  "the state file has the wrong size: truncated, or not a state file; " \
	  "restore it, or open a new file under another node number") \
	X(STATE_LAYOUT, -21, CALL, "state_layout", \
	  "the state file was made for another layout; use that layout, or another file and node number") \
	X(STATE_NODE, -22, CALL, "state_node", \
	  "the state file was made for another node number; use that number, or another file") \
	X(STATE_VERSION, -23, OPERATOR, "state_version", \
	  "the state file was written in a format this version does not know; use the newer firn") \
	X(STATE_MACHINE, -24, OPERATOR, "state_machine", \
	  "the state file was written on another machine; if that machine will never issue with " \
	  "this node number again, run: firn state adopt FILE") \
	X(STATE_MODE, -25, OPERATOR, "state_mode", \
	  "the state file or its directory is owned by another user or is writable or readable by others; " \
	  "chown it and chmod 600 the file") \
	X(STATE_KIND, -26, OPERATOR, "state_kind", \
	  "the state path is not a regular file with one link (a symbolic link, hard link, FIFO or device); " \
	  "name the real file") \
	X(STATE_NETWORK, -27, OPERATOR, "state_network", \
	  "the state file lies on a network file system, whose locks and caches cannot be trusted here; " \
	  "use a local disk") \
	X(STATE_BUSY, -28, RETRY, "state_busy", \
	  "another process holds the state file's lock for longer than the call may wait; " \
	  "if that process is stopped, continue or end it") \
	X(STATE_UNREACHABLE, -29, OPERATOR, "state_unreachable", \
	  "a live process uses this state file but its memory cannot be reached from here " \
	  "(another PID namespace or another user, or no /proc here); " \
	  "end that process, or give this one its own file and node number") \
	X(STATE_LOST, -30, RENEW, "state_lost", \
	  "the state file was replaced, removed or taken over since it was opened; " \
	  "this generator is sealed: open a new one") \
	X(SYNC, -31, OPERATOR, "sync", \
	  "writing the state file to disk failed, which is final: the generator is sealed; " \
	  "check the disk, then open a new file under another node number") \
	X(TEXT_LENGTH, -32, CALL, "text_length", \
	  "the text has the wrong length for its form") \
	X(TEXT_DIGIT, -33, CALL, "text_digit", \
	  "the text has a character that is not a digit of its form") \
	X(TEXT_RANGE, -34, CALL, "text_range", \
	  "the text stands for a number of 2^63 or more") \
	X(TEXT_LEADING, -35, CALL, "text_leading", \
	  "decimal text must not begin with a zero") \
	X(NODE_OPEN, -36, CALL, "node_open", \
	  "this process, or the one it was forked from, has a generator open that makes the same IDs; " \
	  "use that one, close it first, or give this one another node number")

enum firn_error {
	FIRN_OK = 0,
#define FIRNI_ERROR_ENUM(name, number, cls, code, text) FIRN_E_##name = (number),
	FIRN_ERRORS(FIRNI_ERROR_ENUM)
#undef FIRNI_ERROR_ENUM
	FIRN_E_LAST = -36
};

#ifdef __cplusplus
extern "C" {
#endif

/* What happened and what to do, in one English sentence; never NULL, never freed. */
FIRN_API const char *firn_error_text(int error);

/* The short stable name used in vectors and --json, such as "clock_back"; "unknown" for others. */
FIRN_API const char *firn_error_code(int error);

/* What the caller should do. FIRN_CLASS_OPERATOR for a number that is no error of this library. */
FIRN_API enum firn_error_class firn_error_class(int error);

#ifdef __cplusplus
}
#endif

#endif
