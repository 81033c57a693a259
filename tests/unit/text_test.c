/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Text forms: every digit, every byte, every boundary, against a slow implementation written apart. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include <firn.h>

#include "codec/digits.h"

__extension__ typedef unsigned __int128 u128;

#define ID_MAX ((UINT64_C(1) << 63) - 1)

static const struct {
	enum firn_text_form form;
	const char *digits;
	unsigned width;
} fixed[] = {
	{FIRN_TEXT_HEX, "0123456789abcdef", 16},
	{FIRN_TEXT_BASE32, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 13},
	{FIRN_TEXT_BASE58, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 11},
	{FIRN_TEXT_BASE62, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 11},
};
#define FIXED (sizeof(fixed) / sizeof(fixed[0]))

/* Digit by digit in 128 bits: slow and plain. */
static void
slow_write(unsigned f, u128 value, char *text)
{
	unsigned base = (unsigned)strlen(fixed[f].digits);

	text[fixed[f].width] = '\0';
	for (unsigned i = fixed[f].width; i-- > 0; value /= base)
		text[i] = fixed[f].digits[(unsigned)(value % base)];
}

static int
read_error(enum firn_text_form form, const char *text)
{
	uint64_t id = 77;
	int error = firn_text_read(form, text, strlen(text), &id);

	cr_assert(error == FIRN_OK || id == 77, "a refusal must leave the output untouched");
	return error;
}

static void
reads(enum firn_text_form form, const char *text, uint64_t expected)
{
	uint64_t id = 0;
	int error = firn_text_read(form, text, strlen(text), &id);

	cr_assert_eq(error, FIRN_OK, "'%s': %s", text, firn_error_code(error));
	cr_assert_eq(id, expected, "'%s'", text);
}

Test(text, a_million_random_ids_agree_with_the_slow_way_in_every_form)
{
	uint64_t random = 88172645463325252u;

	for (int n = 0; n < 1000000; n++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		uint64_t id = random >> (1 + random % 63);
		char text[FIRN_TEXT_MAX];
		char slow[32];

		for (unsigned f = 0; f < FIXED; f++) {
			slow_write(f, id, slow);
			cr_assert_eq(firn_text_write(fixed[f].form, id, text), (int)fixed[f].width);
			cr_assert_str_eq(text, slow);
			reads(fixed[f].form, text, id);
		}
		(void)snprintf(slow, sizeof(slow), "%llu", (unsigned long long)id);
		cr_assert_eq(firn_text_write(FIRN_TEXT_DECIMAL, id, text), (int)strlen(slow));
		cr_assert_str_eq(text, slow);
		reads(FIRN_TEXT_DECIMAL, text, id);
	}
}

Test(text, every_byte_at_every_place_is_a_digit_or_refused)
{
	for (unsigned f = 0; f < FIXED; f++)
		for (unsigned place = 0; place < fixed[f].width; place++)
			for (int byte = 0; byte < 256; byte++) {
				char text[32];
				uint64_t id = 77;
				const char *digit = byte == 0 ? NULL : strchr(fixed[f].digits, byte);

				slow_write(f, 0, text);
				text[place] = (char)byte;
				if (fixed[f].form == FIRN_TEXT_BASE32 && byte != 0) {
					int upper = byte >= 'a' && byte <= 'z' ? byte - 32 : byte;

					upper = upper == 'O' ? '0' : upper == 'I' || upper == 'L' ? '1' : upper;
					digit = strchr(fixed[f].digits, upper);
				}
				int error = firn_text_read(fixed[f].form, text, fixed[f].width, &id);

				if (digit == NULL) {
					cr_assert_eq(error, FIRN_E_TEXT_DIGIT, "form %d byte %d", (int)fixed[f].form, byte);
					continue;
				}
				u128 value = (unsigned)(digit - fixed[f].digits);

				for (unsigned i = place + 1; i < fixed[f].width; i++)
					value *= strlen(fixed[f].digits);
				cr_assert_eq(error, value > ID_MAX ? FIRN_E_TEXT_RANGE : FIRN_OK);
				if (error == FIRN_OK)
					cr_assert_eq(id, (uint64_t)value);
			}
}

Test(text, the_last_id_is_read_and_the_next_value_is_not)
{
	static const u128 beyond[] = {
		(u128)1 << 63, ((u128)1 << 64) - 1, (u128)1 << 64};

	for (unsigned f = 0; f < FIXED; f++) {
		char text[32];
		u128 room = 1;

		for (unsigned i = 0; i < fixed[f].width; i++)
			room *= strlen(fixed[f].digits);
		slow_write(f, ID_MAX, text);
		reads(fixed[f].form, text, ID_MAX);
		for (unsigned i = 0; i < 3; i++)
			if (beyond[i] < room) {
				slow_write(f, beyond[i], text);
				cr_assert_eq(read_error(fixed[f].form, text), FIRN_E_TEXT_RANGE);
			}
	}
}

Test(text, every_wrong_length_is_refused)
{
	for (unsigned f = 0; f < FIXED; f++)
		for (size_t length = 0; length < 40; length++) {
			char text[64];
			uint64_t id;

			memset(text, fixed[f].digits[0], sizeof(text));
			int error = firn_text_read(fixed[f].form, text, length, &id);

			cr_assert_eq(error, length == fixed[f].width ? FIRN_OK : FIRN_E_TEXT_LENGTH);
		}
}

Test(text, fixed_forms_sort_as_ids_do)
{
	for (unsigned f = 0; f < FIXED; f++) {
		char last[FIRN_TEXT_MAX];
		char text[FIRN_TEXT_MAX];

		cr_assert_gt(firn_text_write(fixed[f].form, 0, last), 0);
		for (uint64_t id = 1; id < ID_MAX / 3 * 2; id += id / 7 + 1) {
			cr_assert_gt(firn_text_write(fixed[f].form, id, text), 0);
			cr_assert_lt(strcmp(last, text), 0);
			(void)strcpy(last, text);
		}
	}
}

Test(text, alphabets_and_values_agree)
{
	const uint32_t *values[] = {firni_hex_values, firni_base32_values, firni_base58_values, firni_base62_values};
	const char *digits[] = {firni_hex_digits, firni_base32_digits, firni_base58_digits, firni_base62_digits};

	for (unsigned f = 0; f < FIXED; f++) {
		cr_assert_str_eq(digits[f], fixed[f].digits);
		for (unsigned i = 0; digits[f][i] != '\0'; i++)
			cr_assert_eq(values[f][(unsigned char)digits[f][i]], i);
	}
}

Test(text, R82_base58_beyond_the_range_is_refused_and_never_wraps)
{
	reads(FIRN_TEXT_BASE58, "NQm6nKp8qFC", ID_MAX);
	cr_assert_eq(read_error(FIRN_TEXT_BASE58, "NQm6nKp8qFD"), FIRN_E_TEXT_RANGE);
	cr_assert_eq(read_error(FIRN_TEXT_BASE58, "jpXCZedGfVQ"), FIRN_E_TEXT_RANGE);
	cr_assert_eq(read_error(FIRN_TEXT_BASE58, "jpXCZedGfVR"), FIRN_E_TEXT_RANGE);
	cr_assert_eq(read_error(FIRN_TEXT_BASE58, "jpXCZedGfVS"), FIRN_E_TEXT_RANGE);
}

Test(text, R84_only_the_canonical_width_is_read)
{
	cr_assert_eq(read_error(FIRN_TEXT_BASE58, "7Pdvfq"), FIRN_E_TEXT_LENGTH);
	cr_assert_eq(read_error(FIRN_TEXT_BASE58, "17Pdvfq"), FIRN_E_TEXT_LENGTH);
	reads(FIRN_TEXT_BASE58, "111117Pdvfq", UINT64_C(4194308096));
}

/*
 * The report is of a ULID, whose 26 digits have two bits too many; the 13 digits of an ID here have two as well. The
 * first digit must not lose them: 0, 8, G and R would be one.
 */
Test(text, R86_bits_above_the_number_are_refused_and_never_dropped)
{
	reads(FIRN_TEXT_BASE32, "7ZZZZZZZZZZZZ", ID_MAX);
	cr_assert_eq(read_error(FIRN_TEXT_BASE32, "8000000000000"), FIRN_E_TEXT_RANGE);
	cr_assert_eq(read_error(FIRN_TEXT_BASE32, "G000000000000"), FIRN_E_TEXT_RANGE);
	cr_assert_eq(read_error(FIRN_TEXT_BASE32, "R000000000000"), FIRN_E_TEXT_RANGE);
	cr_assert_eq(read_error(FIRN_TEXT_BASE32, "ZZZZZZZZZZZZZ"), FIRN_E_TEXT_RANGE);
	cr_assert_eq(read_error(FIRN_TEXT_BASE32, "8Z000000000000000000000000"), FIRN_E_TEXT_LENGTH);
}

Test(text, R88_overlong_text_is_an_error_and_writes_nothing)
{
	cr_assert_eq(read_error(FIRN_TEXT_BASE62, "zzzzzzzzzzzzzz"), FIRN_E_TEXT_LENGTH);
	cr_assert_eq(read_error(FIRN_TEXT_BASE62, "zzzzzzzzzzz"), FIRN_E_TEXT_RANGE);
}

/* The report's value has the top bit set: no ID of this library has, so right is a refusal, never empty or negative. */
Test(text, R90_a_value_with_the_top_bit_is_not_written)
{
	char text[FIRN_TEXT_MAX] = "before";

	for (int form = 0; form < FIRN_TEXT_FORMS; form++) {
		cr_assert_eq(firn_text_write((enum firn_text_form)form, UINT64_C(10089472178181172683), text),
		             FIRN_E_TEXT_RANGE);
		cr_assert_str_eq(text, "before");
	}
	cr_assert_eq(read_error(FIRN_TEXT_BASE62, "C1Jt9gn6qdf"), FIRN_E_TEXT_RANGE);
	cr_assert_eq(read_error(FIRN_TEXT_BASE58, "QRNB6PcYsHU"), FIRN_E_TEXT_RANGE);
	cr_assert_eq(read_error(FIRN_TEXT_BASE32, "8R181FNFTSVEB"), FIRN_E_TEXT_RANGE);
}

Test(text, R92_R94_decimal_is_strict)
{
	cr_assert_eq(read_error(FIRN_TEXT_DECIMAL, ""), FIRN_E_TEXT_LENGTH);
	cr_assert_eq(read_error(FIRN_TEXT_DECIMAL, "   "), FIRN_E_TEXT_DIGIT);
	cr_assert_eq(read_error(FIRN_TEXT_DECIMAL, "null"), FIRN_E_TEXT_DIGIT);
	cr_assert_eq(read_error(FIRN_TEXT_DECIMAL, "-1"), FIRN_E_TEXT_DIGIT);
	cr_assert_eq(read_error(FIRN_TEXT_DECIMAL, "01"), FIRN_E_TEXT_LEADING);
	cr_assert_eq(read_error(FIRN_TEXT_DECIMAL, "9223372036854775808"), FIRN_E_TEXT_RANGE);
	cr_assert_eq(read_error(FIRN_TEXT_DECIMAL, "18446744073709551615"), FIRN_E_TEXT_RANGE);
	cr_assert_eq(read_error(FIRN_TEXT_DECIMAL, "18446744073709551616"), FIRN_E_TEXT_RANGE);
	cr_assert_eq(read_error(FIRN_TEXT_DECIMAL, "14755887168818983731200"), FIRN_E_TEXT_RANGE);
	reads(FIRN_TEXT_DECIMAL, "9223372036854775807", ID_MAX);
	reads(FIRN_TEXT_DECIMAL, "0", 0);
	reads(FIRN_TEXT_DECIMAL, "7", 7);
}

Test(text, R97_letter_case_tells_base62_ids_apart)
{
	reads(FIRN_TEXT_BASE62, "000004Zqt8a", UINT64_C(4194308096));
	reads(FIRN_TEXT_BASE62, "000004Zqt8A", UINT64_C(4194308070));
}

Test(text, forms_have_names_and_unknown_ones_are_refused)
{
	enum firn_text_form form;
	char text[FIRN_TEXT_MAX];
	uint64_t id;

	for (int i = 0; i < FIRN_TEXT_FORMS; i++) {
		cr_assert_eq(firn_text_form_find(firn_text_form_name((enum firn_text_form)i), &form), FIRN_OK);
		cr_assert_eq((int)form, i);
	}
	cr_assert_null(firn_text_form_name((enum firn_text_form)9));
	cr_assert_eq(firn_text_form_find("base64", &form), FIRN_E_INVALID);
	cr_assert_eq(firn_text_write((enum firn_text_form)9, 1, text), FIRN_E_INVALID);
	cr_assert_eq(firn_text_read((enum firn_text_form)9, "1", 1, &id), FIRN_E_INVALID);
	cr_assert_eq(firn_text_read(FIRN_TEXT_HEX, NULL, 16, &id), FIRN_E_INVALID);
}
