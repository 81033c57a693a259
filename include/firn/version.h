/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The library's version, at compile time and at run time. */
#ifndef FIRN_VERSION_H
#define FIRN_VERSION_H

#include <firn/detail/attributes.h>

#define FIRN_VERSION_MAJOR 0
#define FIRN_VERSION_MINOR 1
#define FIRN_VERSION_PATCH 0
#define FIRN_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that runs, such as "0.1.0". */
FIRN_API const char *firn_version(void);

#ifdef __cplusplus
}
#endif

#endif
