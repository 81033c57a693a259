/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Delays summed up, the same way for what was simulated and for what was measured. */
#include "load.h"

#include <math.h>

void
outcome_delays(struct outcome *outcome, const uint64_t delays[DELAYS], uint32_t tick_ms)
{
	uint64_t seen = 0;

	outcome->ids = 0;
	for (unsigned i = 0; i < DELAYS; i++) {
		outcome->ids += delays[i];
		if (delays[i] != 0)
			outcome->most_ms = (double)i * tick_ms;
	}
	if (outcome->ids == 0)
		return;
	outcome->stalled = 1 - (double)delays[0] / (double)outcome->ids;
	uint64_t rank = (uint64_t)ceil(0.99 * (double)outcome->ids);

	for (unsigned i = 0; i < DELAYS && seen < rank; i++) {
		seen += delays[i];
		outcome->p99_ms = (double)i * tick_ms;
	}
}
