/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The version of the library that runs. */
#include <firn/version.h>

const char *
firn_version(void)
{
	return FIRN_VERSION;
}
