/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Text forms of an ID: decimal, hex, Crockford base32, base58, base62. Pure. */
#ifndef FIRN_TEXT_H
#define FIRN_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <firn/detail/attributes.h>

/*
 * All but decimal have a fixed width, most significant digit first, so that text sorts as
 * IDs do. Base58 and base62 tell ID from ID by letter case alone: store them only where
 * comparison is exact, and take base32 or hex where a collation may fold case.
 */
enum firn_text_form {
	FIRN_TEXT_DECIMAL = 0, /* no padding, 1 to 19 digits */
	FIRN_TEXT_HEX = 1,     /* 16 digits, lower case only: upper case is refused */
	FIRN_TEXT_BASE32 = 2,  /* 13 digits of Crockford's alphabet; written upper case; lower case
	                          and the look-alikes O, I and L are read */
	FIRN_TEXT_BASE58 = 3,  /* 11 digits of the Bitcoin alphabet */
	FIRN_TEXT_BASE62 = 4   /* 11 digits in ASCII order: 0-9 A-Z a-z */
};
#define FIRN_TEXT_FORMS 5
#define FIRN_TEXT_MAX 20 /* bytes that any form needs, NUL included */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Write an ID and a NUL. text has room for FIRN_TEXT_MAX bytes. Returns the length
 * without the NUL, or FIRN_E_INVALID for an unknown form, FIRN_E_TEXT_RANGE for an ID of
 * 2^63 or more.
 */
FIRN_API FIRN_MUST_USE int firn_text_write(enum firn_text_form form, uint64_t id, char *text);

/*
 * Read exactly length bytes. What is accepted writes back to the same text (base32: up to case
 * and look-alikes, which are its alphabet's own rule); anything else
 * (wrong length, foreign character, sign, blank, 2^63 or more) is refused with one of
 * FIRN_E_TEXT_LENGTH, _DIGIT, _RANGE, _LEADING, and *id is left untouched.
 */
FIRN_API FIRN_MUST_USE int firn_text_read(enum firn_text_form form, const char *text, size_t length,
                                          uint64_t *id);

/* The form's name, such as "base32"; NULL if there is no such form. */
FIRN_API const char *firn_text_form_name(enum firn_text_form form);

/* Find a form by name. Returns 0 or FIRN_E_INVALID. */
FIRN_API FIRN_MUST_USE int firn_text_form_find(const char *name, enum firn_text_form *form);

#ifdef __cplusplus
}
#endif

#endif
