/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Digits of the fixed-width forms: the alphabets, and the value of every byte. */
#ifndef FIRNI_CODEC_DIGITS_H
#define FIRNI_CODEC_DIGITS_H

#include <stdint.h>

/* The value of a byte that is no digit: above that of any five digits, see read_fixed. */
#define FIRNI_DIGIT_NONE 0x80000000u

extern const char firni_hex_digits[17];
extern const char firni_base32_digits[33]; /* Crockford: no I, L, O, U */
extern const char firni_base58_digits[59]; /* Bitcoin: no 0, I, O, l */
extern const char firni_base62_digits[63]; /* ASCII order, so that text sorts as IDs do */

extern const uint32_t firni_hex_values[256];
extern const uint32_t firni_base32_values[256];
extern const uint32_t firni_base58_values[256];
extern const uint32_t firni_base62_values[256];

#endif
