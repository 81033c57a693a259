/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Text forms of an ID: one table-driven reader and writer for every fixed-width form, and decimal. */
#include <firn/text.h>

#include <string.h>

#include <firn/detail/attributes.h>
#include <firn/error.h>

#include "codec/digits.h"

#define ID_BITS 63

/* At -O2 a loop of constant length stays a loop: that is a third of a decode. */
#define UNROLLED _Pragma("GCC unroll 16")

/*
 * Width and base are constants at each call of read_fixed and write_fixed, so that division
 * becomes multiplication. Both work on three parts of the text side by side: a digit at a
 * time is one long chain in which each step waits for the one before.
 */

/* Base^digits, a constant where both are. */
FIRNI_INLINE uint64_t
power(uint32_t base, unsigned digits)
{
	uint64_t scale = 1;

	UNROLLED
	for (unsigned i = 0; i < digits; i++)
		scale *= base;
	return scale;
}

/* The digits of a part, least significant last. */
FIRNI_INLINE void
write_part(const char alphabet[], uint32_t base, uint32_t part, char *text, unsigned digits)
{
	UNROLLED
	for (unsigned i = digits; i > 0; i--) {
		text[i - 1] = alphabet[part % base];
		part /= base;
	}
}

FIRNI_INLINE void
write_fixed(const char alphabet[], uint32_t base, unsigned width, uint64_t id, char *text)
{
	unsigned third = width / 3;
	unsigned first = width - 2 * third;
	uint64_t scale = power(base, third);
	uint64_t rest = id / scale;

	write_part(alphabet, base, (uint32_t)(rest / scale), text, first);
	write_part(alphabet, base, (uint32_t)(rest % scale), text + first, third);
	write_part(alphabet, base, (uint32_t)(id % scale), text + first + third, third);
	text[width] = '\0';
}

/* The value of a few digits; FIRNI_DIGIT_NONE or more if one of them is none. */
FIRNI_INLINE uint64_t
read_part(const uint32_t value[256], uint32_t base, const char *text, unsigned digits)
{
	uint64_t part = 0;

	UNROLLED
	for (unsigned i = 0; i < digits; i++)
		part = part * base + value[(unsigned char)text[i]];
	return part;
}

/*
 * Three parts without a common chain of multiplications run side by side, each so short that
 * its value stays below FIRNI_DIGIT_NONE and that a digit that is none, which carries that
 * bit, cannot wrap it away: 62^5 < 2^31, and 2^31 * 62^4 + ... < 2^64. So all digits are
 * checked by one test of the three parts.
 */
FIRNI_INLINE int
read_fixed(const uint32_t value[256], uint32_t base, unsigned width, const char *text, uint64_t *id)
{
	unsigned third = width / 3;
	unsigned first = width - 2 * third;
	uint64_t scale = power(base, third);
	uint64_t high = read_part(value, base, text, first);
	uint64_t middle = read_part(value, base, text + first, third);
	uint64_t low = read_part(value, base, text + first + third, third);

	if (FIRNI_UNLIKELY((high | middle | low) >= FIRNI_DIGIT_NONE))
		return FIRN_E_TEXT_DIGIT;
	/* high * scale + middle stays below 2^48, so only the next product may pass 64 bits. */
	uint64_t product;

	if (FIRNI_UNLIKELY(__builtin_mul_overflow(high * scale + middle, scale, &product) ||
	                   __builtin_add_overflow(product, low, &product) || product >> ID_BITS != 0))
		return FIRN_E_TEXT_RANGE;
	*id = product;
	return FIRN_OK;
}

static int
write_decimal(uint64_t id, char *text)
{
	static const char pairs[] =
		"0001020304050607080910111213141516171819"
		"2021222324252627282930313233343536373839"
		"4041424344454647484950515253545556575859"
		"6061626364656667686970717273747576777879"
		"8081828384858687888990919293949596979899";
	char digits[20];
	unsigned at = sizeof(digits);

	while (id >= 100) {
		at -= 2;
		memcpy(digits + at, pairs + id % 100 * 2, 2);
		id /= 100;
	}
	if (id >= 10) {
		at -= 2;
		memcpy(digits + at, pairs + id * 2, 2);
	} else {
		digits[--at] = (char)('0' + id);
	}
	memcpy(text, digits + at, sizeof(digits) - at);
	text[sizeof(digits) - at] = '\0';
	return (int)(sizeof(digits) - at);
}

static int
read_decimal(const char *text, size_t length, uint64_t *id)
{
	uint64_t value = 0;

	if (length == 0)
		return FIRN_E_TEXT_LENGTH;
	/* Told apart from a range error only by looking at every character first. */
	for (size_t i = 0; i < length; i++) {
		unsigned digit = (unsigned char)text[i] - (unsigned)'0';

		if (digit > 9)
			return FIRN_E_TEXT_DIGIT;
		if (i < 19)
			value = value * 10 + digit;
	}
	if (length > 1 && text[0] == '0')
		return FIRN_E_TEXT_LEADING;
	if (length > 19 || value >> ID_BITS != 0)
		return FIRN_E_TEXT_RANGE;
	*id = value;
	return FIRN_OK;
}

int
firn_text_write(enum firn_text_form form, uint64_t id, char *text)
{
	if (FIRNI_UNLIKELY(text == NULL))
		return FIRN_E_INVALID;
	if (FIRNI_UNLIKELY(id >> ID_BITS != 0))
		return FIRN_E_TEXT_RANGE;
	switch (form) {
	case FIRN_TEXT_DECIMAL:
		return write_decimal(id, text);
	case FIRN_TEXT_HEX:
		write_fixed(firni_hex_digits, 16, 16, id, text);
		return 16;
	case FIRN_TEXT_BASE32:
		write_fixed(firni_base32_digits, 32, 13, id, text);
		return 13;
	case FIRN_TEXT_BASE58:
		write_fixed(firni_base58_digits, 58, 11, id, text);
		return 11;
	case FIRN_TEXT_BASE62:
		write_fixed(firni_base62_digits, 62, 11, id, text);
		return 11;
	}
	return FIRN_E_INVALID;
}

int
firn_text_read(enum firn_text_form form, const char *text, size_t length, uint64_t *id)
{
	if (FIRNI_UNLIKELY(text == NULL || id == NULL))
		return FIRN_E_INVALID;
	switch (form) {
	case FIRN_TEXT_DECIMAL:
		return read_decimal(text, length, id);
	case FIRN_TEXT_HEX:
		return length != 16 ? FIRN_E_TEXT_LENGTH : read_fixed(firni_hex_values, 16, 16, text, id);
	case FIRN_TEXT_BASE32:
		return length != 13 ? FIRN_E_TEXT_LENGTH : read_fixed(firni_base32_values, 32, 13, text, id);
	case FIRN_TEXT_BASE58:
		return length != 11 ? FIRN_E_TEXT_LENGTH : read_fixed(firni_base58_values, 58, 11, text, id);
	case FIRN_TEXT_BASE62:
		return length != 11 ? FIRN_E_TEXT_LENGTH : read_fixed(firni_base62_values, 62, 11, text, id);
	}
	return FIRN_E_INVALID;
}

static const char *const names[FIRN_TEXT_FORMS] = {"decimal", "hex", "base32", "base58", "base62"};

const char *
firn_text_form_name(enum firn_text_form form)
{
	return (unsigned)form < FIRN_TEXT_FORMS ? names[form] : NULL;
}

int
firn_text_form_find(const char *name, enum firn_text_form *form)
{
	for (unsigned i = 0; name != NULL && form != NULL && i < FIRN_TEXT_FORMS; i++)
		if (strcmp(names[i], name) == 0) {
			*form = (enum firn_text_form)i;
			return FIRN_OK;
		}
	return FIRN_E_INVALID;
}
