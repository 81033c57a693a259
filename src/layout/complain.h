/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What the validator and the parser share: a complaint, and what may stand in a name. */
#ifndef FIRNI_LAYOUT_COMPLAIN_H
#define FIRNI_LAYOUT_COMPLAIN_H

#include <stddef.h>

#include <firn/layout.h>

/* Fill *error, which may be NULL. Always FIRN_E_LAYOUT, so that a caller can return it. */
__attribute__((format(printf, 4, 5))) int firni_layout_complain(struct firn_layout_error *error,
                                                                size_t offset, size_t length,
                                                                const char *format, ...);

/* How many leading characters of a field's name may stand there. All of them: length. */
size_t firni_layout_name_span(const char *name, size_t length);

#endif
