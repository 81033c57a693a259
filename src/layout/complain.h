/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a struct firn_layout_error. */
#ifndef FIRNI_LAYOUT_COMPLAIN_H
#define FIRNI_LAYOUT_COMPLAIN_H

#include <firn/layout.h>

/* Fill *error, which may be NULL. Always FIRN_E_LAYOUT, so that a caller can return it. */
__attribute__((format(printf, 4, 5))) int
firni_layout_complain(struct firn_layout_error *error, size_t offset, size_t length, const char *format, ...);

#endif
