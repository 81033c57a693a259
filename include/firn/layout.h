/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of an ID: names and widths of its fields, epoch, tick. Pure: no clock, no state. */
#ifndef FIRN_LAYOUT_H
#define FIRN_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include <firn/detail/attributes.h>

#define FIRN_LAYOUT_FIELDS_MAX 8
#define FIRN_LAYOUT_NAME_MAX 15           /* letters of a field's name */
#define FIRN_LAYOUT_TEXT_MAX 320          /* bytes that any layout's text needs, NUL included */
#define FIRN_LAYOUT_BITS_MAX 63           /* an ID is never negative as a signed 64-bit number */
#define FIRN_LAYOUT_TICK_MS_MAX 86400000u /* a day */

/* One field, lying at bits [shift, shift + bits). */
struct firn_field {
	char name[FIRN_LAYOUT_NAME_MAX + 1];
	uint8_t bits;
	uint8_t shift;
};

/*
 * A value, copied freely. Made by firn_layout_parse, firn_layout_preset or
 * firn_layout_make; the derived members are theirs to fill.
 *
 * Fields stand from the top bit down without gaps, to the right of whatever is left of 63:
 * "time" first, one "sequence", every other field is part of the node. A sequence may have
 * 0 bits (one ID in a tick), every other field has at least 1. The node number is the node
 * fields' values written one after the other, in layout order, as one number of node_bits
 * bits; without a node field node_bits is 0 and the only node number 0.
 */
struct firn_layout {
	int64_t epoch_ms; /* Unix milliseconds of tick 0, years 0000 to 9999; 0 is a legal epoch */
	uint32_t tick_ms; /* 1 to FIRN_LAYOUT_TICK_MS_MAX */
	uint8_t field_count;
	uint8_t time_bits;
	uint8_t seq_bits;
	uint8_t node_bits;
	uint8_t time_shift;
	uint8_t seq_shift;
	uint8_t total_bits;
	struct firn_field field[FIRN_LAYOUT_FIELDS_MAX];
};

/*
 * Where and why a layout was refused. From firn_layout_make, which has no text, offset is the
 * index of the offending field, or the number of fields where the fault is not one field's.
 */
struct firn_layout_error {
	size_t offset;      /* the offending character of the text */
	size_t length;      /* how many characters are meant, at least 1 except at the text's end */
	char message[160];  /* one sentence that says what is wrong and what would be right */
};

/* An ID taken apart. value[i] belongs to layout->field[i]. */
struct firn_parts {
	int64_t time_ms; /* Unix milliseconds at which the ID's tick begins; INT64_MAX if past that */
	uint64_t tick;
	uint64_t node;   /* the node number, see struct firn_layout */
	uint64_t sequence;
	uint64_t value[FIRN_LAYOUT_FIELDS_MAX];
};

/* A layout that is known by name. */
struct firn_preset {
	const char *name;
	const char *text;    /* in the notation of firn_layout_parse */
	const char *summary; /* one line for people */
	const char *source;  /* who published it and where */
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Read the text notation, for example
 *     time:41 region:3 worker:7 sequence:12 epoch=2026-01-01T00:00:00Z tick=1ms
 * Fields are NAME:BITS from the top down; names are a to z, 0 to 9 and _, a letter first.
 * Blanks part the words; the two settings may stand anywhere among them, each once.
 * epoch= takes an RFC 3339 time with a zone (Z or an offset; never the host's zone) or
 * Unix milliseconds, and must be given. tick= takes a whole number with ms or s and is
 * 1ms if left out. A preset's name alone stands for its layout. A text of more than 4096
 * characters is refused unread.
 * Returns 0, or FIRN_E_LAYOUT with *error (may be NULL) filled; *layout is then untouched.
 */
FIRN_API FIRN_MUST_USE int firn_layout_parse(const char *text, struct firn_layout *layout,
                                             struct firn_layout_error *error);

/*
 * Write the canonical text; parsing it gives the same layout back. Needs at most
 * FIRN_LAYOUT_TEXT_MAX bytes. Returns 0, or FIRN_E_INVALID if size is too small.
 */
FIRN_API FIRN_MUST_USE int firn_layout_print(const struct firn_layout *layout, char *text,
                                             size_t size);

/*
 * Build a layout from its parts: names and bits from the top down; shifts are computed.
 * The one validator: parse and presets come through here. Returns 0 or FIRN_E_LAYOUT.
 */
FIRN_API FIRN_MUST_USE int firn_layout_make(int64_t epoch_ms, uint32_t tick_ms,
                                            const struct firn_field field[], size_t field_count,
                                            struct firn_layout *layout,
                                            struct firn_layout_error *error);

/* Look up a preset; NULL if there is none of that name. */
FIRN_API const struct firn_preset *firn_layout_preset(const char *name);

/* The presets in order, NULL past the last. */
FIRN_API const struct firn_preset *firn_layout_preset_at(size_t index);

/* True if the two layouts make the same IDs from the same values: same fields, epoch, tick. */
FIRN_API int firn_layout_equal(const struct firn_layout *a, const struct firn_layout *b);

/* A hash of the canonical text: in practice different where firn_layout_equal is false. */
FIRN_API uint64_t firn_layout_fingerprint(const struct firn_layout *layout);

/*
 * The one pack routine: one value for each field, in layout order. A value that does not
 * fit is refused before packing: FIRN_E_TIME_OVER for the time, FIRN_E_NODE for a node
 * field, FIRN_E_INVALID for the sequence. Nothing is masked.
 */
FIRN_API FIRN_MUST_USE int firn_layout_pack(const struct firn_layout *layout,
                                            const uint64_t value[], uint64_t *id);

/* Compose an ID from tick, node number and sequence. Errors as firn_layout_pack. */
FIRN_API FIRN_MUST_USE int firn_layout_compose(const struct firn_layout *layout, uint64_t tick,
                                               uint64_t node, uint64_t sequence, uint64_t *id);

/* Take an ID apart. FIRN_E_RANGE if it has bits outside the layout. */
FIRN_API FIRN_MUST_USE int firn_layout_split(const struct firn_layout *layout, uint64_t id,
                                             struct firn_parts *parts);

/*
 * The node number of one value for each node field, in layout order (time and sequence
 * have no entry). FIRN_E_NODE if a value does not fit.
 */
FIRN_API FIRN_MUST_USE int firn_layout_node_join(const struct firn_layout *layout,
                                                 const uint64_t value[], uint64_t *node);

/* The reverse; value[] has room for FIRN_LAYOUT_FIELDS_MAX. FIRN_E_NODE if node does not fit. */
FIRN_API FIRN_MUST_USE int firn_layout_node_split(const struct firn_layout *layout, uint64_t node,
                                                  uint64_t value[]);

/* The node number's bits where they lie inside an ID. FIRN_E_NODE if it does not fit. */
FIRN_API FIRN_MUST_USE int firn_layout_node_place(const struct firn_layout *layout, uint64_t node,
                                                  uint64_t *image);

/*
 * The tick of a time. FIRN_E_BEFORE_EPOCH below the epoch, FIRN_E_TIME_OVER past the last
 * tick. A tick covers [time, time + tick_ms).
 */
FIRN_API FIRN_MUST_USE int firn_layout_tick(const struct firn_layout *layout, int64_t unix_ms,
                                            uint64_t *tick);

/* The last Unix millisecond that has a tick; INT64_MAX if it does not fit. */
FIRN_API int64_t firn_layout_last_ms(const struct firn_layout *layout);

/* Milliseconds of life left at a time: 0 when over, the whole life before the epoch. */
FIRN_API uint64_t firn_layout_life_ms(const struct firn_layout *layout, int64_t unix_ms);

/* IDs that one node can make in one tick. */
FIRN_API uint64_t firn_layout_ids_per_tick(const struct firn_layout *layout);

/* IDs that one node can make in one second, on average; the layout's ceiling. */
FIRN_API double firn_layout_ids_per_second(const struct firn_layout *layout);

/* How many node numbers there are. */
FIRN_API uint64_t firn_layout_nodes(const struct firn_layout *layout);

/*
 * A warning for people about a layout that is legal but almost surely a mistake (an epoch
 * in January 1970 that is not 0: seconds given for milliseconds; a life that is over or
 * short at unix_ms; no node field), or NULL. index counts from 0 through several.
 */
FIRN_API const char *firn_layout_warning(const struct firn_layout *layout, int64_t unix_ms,
                                         size_t index);

#ifdef __cplusplus
}
#endif

#endif
