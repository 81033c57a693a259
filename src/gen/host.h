/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Who this machine is and which boot this is, as 16 bytes each. */
#ifndef FIRNI_GEN_HOST_H
#define FIRNI_GEN_HOST_H

#include <stdint.h>

/* From /etc/machine-id, mixed so that the file does not disclose it; all zero if not known. */
void firni_host_machine(uint8_t machine[16]);

/* From the kernel's boot id; all zero if not known. */
void firni_host_boot(uint8_t boot[16]);

/* True unless both are known and differ. */
int firni_host_maybe_same(const uint8_t a[16], const uint8_t b[16]);

#endif
