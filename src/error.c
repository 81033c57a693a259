/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Lookups in the one table of errors. */
#include <firn/error.h>

#include <stddef.h>

struct error_row {
	const char *code;
	const char *text;
	enum firn_error_class cls;
};

/* Indexed by the negated number: numbers are dense from -1. */
static const struct error_row rows[] = {
	[0] = {"ok", "no error", FIRN_CLASS_NONE},
#define ERROR_ROW(name, number, cls, code, text) [-(number)] = {code, text, FIRN_CLASS_##cls},
	FIRN_ERRORS(ERROR_ROW)
#undef ERROR_ROW
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) == 1 - FIRN_E_LAST, "FIRN_E_LAST must name the last error");

static const struct error_row *
row(int error)
{
	static const struct error_row unknown = {
		"unknown", "not an error number of this library", FIRN_CLASS_OPERATOR};

	return error <= 0 && error >= FIRN_E_LAST ? &rows[-error] : &unknown;
}

const char *
firn_error_text(int error)
{
	return row(error)->text;
}

const char *
firn_error_code(int error)
{
	return row(error)->code;
}

enum firn_error_class
firn_error_class(int error)
{
	return row(error)->cls;
}
