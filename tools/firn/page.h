/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A page that opens without a network: HTML that an XML parser reads too, light and dark, no script. */
#ifndef FIRN_PAGE_H
#define FIRN_PAGE_H

#include <stdio.h>

/* A page up to and with its heading; NULL if the file cannot be opened. */
FILE *page_open(const char *path, const char *heading);

/* Text inside an element or an attribute. */
void page_text(FILE *file, const char *text);

/* A number with an SI prefix where it is large: 4096 is "4.096k". Returns text. */
char *page_number(double value, char text[24]);

/* 0, or -1 if something was not written. */
int page_close(FILE *file);

#endif
