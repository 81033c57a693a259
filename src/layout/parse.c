/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a layout's text. The grammar is in docs/spec.md, S-40. */
#include <firn/layout.h>

#include <stdlib.h>
#include <string.h>

#include <firn/error.h>

#include "layout/complain.h"
#include "layout/time.h"

/* Far above any legal text; a bound that keeps hostile input cheap. */
#define TEXT_MAX 4096

struct word {
	const char *text;
	size_t at;
	size_t length;
};

struct parsed {
	struct firn_field field[FIRN_LAYOUT_FIELDS_MAX];
	struct word field_word[FIRN_LAYOUT_FIELDS_MAX];
	size_t count;
	int64_t epoch_ms;
	uint32_t tick_ms;
	int has_epoch;
	int has_tick;
};

static int
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int
starts(const struct word *w, const char *prefix)
{
	size_t length = strlen(prefix);

	return w->length >= length && memcmp(w->text + w->at, prefix, length) == 0;
}

static size_t
digits_from(const struct word *w, size_t from)
{
	size_t i = from;

	while (i < w->length && w->text[w->at + i] >= '0' && w->text[w->at + i] <= '9')
		i++;
	return i - from;
}

static const struct firn_preset *
word_preset(const struct word *w)
{
	char name[32];

	if (w->length >= sizeof(name))
		return NULL;
	memcpy(name, w->text + w->at, w->length);
	name[w->length] = '\0';
	return firn_layout_preset(name);
}

static int
read_field(const struct word *w, struct parsed *p, struct firn_layout_error *error)
{
	const char *text = w->text + w->at;
	const char *colon = memchr(text, ':', w->length);

	const char *equals = memchr(text, '=', w->length);

	if (equals != NULL && (colon == NULL || equals < colon))
		return firni_layout_complain(error, w->at, (size_t)(equals - text) + 1,
		                             "the only settings are epoch= and tick=");
	if (colon == NULL && word_preset(w) != NULL)
		return firni_layout_complain(
			error, w->at, w->length,
			"a preset's name stands alone; to change it, write its layout out");
	if (colon == NULL)
		return firni_layout_complain(
			error, w->at, w->length,
			"expected NAME:BITS, epoch=TIME, tick=SPAN or the name of a preset");
	size_t name = (size_t)(colon - text);
	size_t good = firni_layout_name_span(text, name);
	size_t digits = digits_from(w, name + 1);

	if (good < name)
		return firni_layout_complain(error, w->at + good, 1,
		                             "a field's name is made of a-z, 0-9 and _, a letter first");
	if (name > FIRN_LAYOUT_NAME_MAX || name == 0)
		return firni_layout_complain(error, w->at, name == 0 ? 1 : name,
		                             "a field's name has 1 to %d characters", FIRN_LAYOUT_NAME_MAX);
	if (digits == 0 || name + 1 + digits != w->length)
		return firni_layout_complain(error, w->at + name + 1 + digits,
		                             digits == 0 && name + 1 == w->length ? 0 : 1,
		                             "expected the number of bits, such as time:41");
	if (digits > 2 || (digits == 2 && colon[1] == '0'))
		return firni_layout_complain(error, w->at + name + 1, digits,
		                             "the number of bits is 0 to %d, without leading zeros",
		                             FIRN_LAYOUT_BITS_MAX);
	if (p->count == FIRN_LAYOUT_FIELDS_MAX)
		return firni_layout_complain(error, w->at, w->length, "a layout has at most %d fields",
		                             FIRN_LAYOUT_FIELDS_MAX);
	struct firn_field *f = &p->field[p->count];

	memset(f, 0, sizeof(*f));
	memcpy(f->name, text, name);
	for (size_t i = 0; i < digits; i++)
		f->bits = (uint8_t)(f->bits * 10 + (colon[1 + i] - '0'));
	/* A NUL cannot stand inside a word, so the name is as long as it looks. */
	p->field_word[p->count++] = *w;
	return FIRN_OK;
}

static int
read_epoch(const struct word *w, struct parsed *p, struct firn_layout_error *error)
{
	size_t from = strlen("epoch=");
	const char *text = w->text + w->at + from;
	size_t length = w->length - from;
	int negative = length > 0 && text[0] == '-';
	size_t digits = digits_from(w, from + (size_t)negative);
	const char *why;
	size_t offset;

	if (p->has_epoch)
		return firni_layout_complain(error, w->at, w->length, "epoch= stands twice");
	p->has_epoch = 1;
	if (length == 0)
		return firni_layout_complain(
			error, w->at + from, 0,
			"expected a time such as 2026-01-01T00:00:00Z, or Unix milliseconds");
	if (digits + (size_t)negative == length && digits > 0) {
		if (text[negative] == '0' && (digits > 1 || negative))
			return firni_layout_complain(error, w->at + from, length,
			                             "a number must not begin with a zero");
		/* Saturates where it overflows, which the range below refuses. */
		p->epoch_ms = strtoll(text, NULL, 10);
	} else if (firni_time_read(text, length, &p->epoch_ms, &offset, &why) != 0) {
		return firni_layout_complain(error, w->at + from + offset, offset < length ? 1 : 0, "%s",
		                             why);
	}
	if (p->epoch_ms < FIRNI_TIME_MIN_MS || p->epoch_ms > FIRNI_TIME_MAX_MS)
		return firni_layout_complain(error, w->at + from, length,
		                             "the epoch must lie in the years 0000 to 9999");
	return FIRN_OK;
}

static int
read_tick(const struct word *w, struct parsed *p, struct firn_layout_error *error)
{
	size_t from = strlen("tick=");
	size_t digits = digits_from(w, from);
	const char *number = w->text + w->at + from;
	const char *unit = number + digits;
	size_t unit_length = w->length - from - digits;
	uint64_t scale;

	if (p->has_tick)
		return firni_layout_complain(error, w->at, w->length, "tick= stands twice");
	p->has_tick = 1;
	if (digits == 0 || digits > 8 || number[0] == '0')
		return firni_layout_complain(
			error, w->at + from, digits == 0 ? w->length > from : digits,
			"expected a whole number of 1 or more with ms or s, such as tick=10ms");
	if (unit_length == 2 && memcmp(unit, "ms", 2) == 0)
		scale = 1;
	else if (unit_length == 1 && unit[0] == 's')
		scale = 1000;
	else
		return firni_layout_complain(error, w->at + from + digits, unit_length,
		                             "the unit of a tick is ms or s");
	uint64_t tick_ms = strtoull(number, NULL, 10) * scale;

	if (tick_ms > FIRN_LAYOUT_TICK_MS_MAX)
		return firni_layout_complain(error, w->at + from, w->length - from,
		                             "a tick lasts at most a day");
	p->tick_ms = (uint32_t)tick_ms;
	return FIRN_OK;
}

/* The next word at or after *at; 0 at the end. */
static int
next_word(const char *text, size_t length, size_t *at, struct word *w)
{
	while (*at < length && is_blank(text[*at]))
		(*at)++;
	w->text = text;
	w->at = *at;
	while (*at < length && !is_blank(text[*at]))
		(*at)++;
	w->length = *at - w->at;
	return w->length > 0;
}

/* The preset that the text names, if a name is all it is. */
static const struct firn_preset *
preset_of(const char *text, size_t length)
{
	struct word w;
	struct word more;
	size_t at = 0;

	return next_word(text, length, &at, &w) && !next_word(text, length, &at, &more)
	           ? word_preset(&w)
	           : NULL;
}

/* The validator speaks of fields by index: say where those stand. */
static int
make(const struct parsed *p, size_t length, struct firn_layout *layout,
     struct firn_layout_error *error)
{
	int refused = firn_layout_make(p->epoch_ms, p->tick_ms, p->field, p->count, layout, error);

	if (refused != FIRN_OK && error != NULL) {
		if (error->length != 0 && error->offset < p->count) {
			error->length = p->field_word[error->offset].length;
			error->offset = p->field_word[error->offset].at;
		} else {
			error->offset = length;
			error->length = 0;
		}
	}
	return refused;
}

static int
parse(const char *text, size_t length, struct firn_layout *layout, struct firn_layout_error *error)
{
	struct parsed p;
	struct word w;
	size_t at = 0;

	memset(&p, 0, sizeof(p));
	p.tick_ms = 1;
	while (next_word(text, length, &at, &w)) {
		int refused = starts(&w, "epoch=")  ? read_epoch(&w, &p, error)
		              : starts(&w, "tick=") ? read_tick(&w, &p, error)
		                                    : read_field(&w, &p, error);

		if (refused != FIRN_OK)
			return refused;
	}
	if (p.count == 0)
		return firni_layout_complain(error, length, 0,
		                             "expected fields, such as time:41 node:10 sequence:12");
	if (!p.has_epoch)
		return firni_layout_complain(error, length, 0,
		                             "expected epoch=, such as epoch=2026-01-01T00:00:00Z");
	return make(&p, length, layout, error);
}

int
firn_layout_parse(const char *text, struct firn_layout *layout, struct firn_layout_error *error)
{
	if (text == NULL || layout == NULL)
		return firni_layout_complain(error, 0, 0, "no text");
	size_t length = strnlen(text, TEXT_MAX + 1);

	if (length > TEXT_MAX)
		return firni_layout_complain(error, TEXT_MAX, 1, "the text is longer than %d characters",
		                             TEXT_MAX);
	const struct firn_preset *preset = preset_of(text, length);

	if (preset != NULL)
		return parse(preset->text, strlen(preset->text), layout, error);
	int refused = parse(text, length, layout, error);

	/* Something missing inside the text: mark the blank that stands in its place. */
	if (refused != FIRN_OK && error != NULL && error->length == 0 && error->offset < length)
		error->length = 1;
	return refused;
}
