/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Umbrella over the core headers; firn/inline.h is not in it and is included by name. */
#ifndef FIRN_H
#define FIRN_H

#include <firn/block.h>
#include <firn/clock.h>
#include <firn/error.h>
#include <firn/gen.h>
#include <firn/layout.h>
#include <firn/shards.h>
#include <firn/state.h>
#include <firn/text.h>
#include <firn/version.h>

#endif
