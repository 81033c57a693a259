/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says of its clock, and the judgement on it. */
#include "clock/cold.h"

#include <string.h>

#include <firn/error.h>

void
firni_clock_health_from(const struct timex *answer, int state, struct firn_clock_health *health)
{
	memset(health, 0, sizeof(*health));
	health->synchronised = state != TIME_ERROR && (answer->status & STA_UNSYNC) == 0;
	health->leap_pending = (answer->status & STA_INS) != 0   ? 1
	                       : (answer->status & STA_DEL) != 0 ? -1
	                                                         : 0;
	health->error_max_us = answer->maxerror;
	health->error_estimated_us = answer->esterror;
	health->offset_us = (answer->status & STA_NANO) != 0 ? answer->offset / 1000 : answer->offset;
	health->frequency_ppm = (double)answer->freq / 65536.0;
	health->tai_offset_s = answer->tai;
}

int
firni_clock_health_judge(const struct firn_clock_health *health, uint32_t error_max_ms)
{
	return health->error_max_us <= (int64_t)error_max_ms * 1000 ? FIRN_OK : FIRN_E_UNSYNCHRONISED;
}

int
firn_clock_health(struct firn_clock_health *health)
{
	struct timex answer;
	int state;

	if (health == NULL)
		return FIRN_E_INVALID;
	memset(&answer, 0, sizeof(answer));
	state = adjtimex(&answer);
	if (state < 0)
		return FIRN_E_SYSTEM;
	firni_clock_health_from(&answer, state, health);
	return FIRN_OK;
}

int
firn_clock_require(uint32_t error_max_ms)
{
	struct firn_clock_health health;
	int error = firn_clock_health(&health);

	return error != FIRN_OK ? error : firni_clock_health_judge(&health, error_max_ms);
}
