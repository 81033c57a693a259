/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of a page: its style, its heading, text made safe. */
#include "page.h"

#include <math.h>

/* Eight inks that people who see few colours can tell apart; lines differ by their marks as well. */
static const char style[] =
	":root{color-scheme:light dark;--ink:#1d2a35;--dim:#5b6872;--line:#dbe1e5;--back:#fff;--c0:#0b6aa8;--c1:#c24e00;"
	"--c2:#00795a;--c3:#9a3d86;--c4:#7d6200;--c5:#2f8fb5;--c6:#b3263f;--c7:#55606a}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e6edf2;--dim:#9dabb6;--line:#2f3b45;--back:#12191f;--c0:#5db0e8;"
	"--c1:#f2914e;--c2:#4cc9a0;--c3:#dd8fce;--c4:#d9bd55;--c5:#8fd6f0;--c6:#f47f93;--c7:#aab6c0}}\n"
	"body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:var(--ink);"
	"background:var(--back)}\n"
	"h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2.5rem}p.dim,td.dim,summary{color:var(--dim)}\n"
	"figure{margin:1.5rem 0}figcaption{font-weight:600}figcaption span{display:block;font-weight:400;color:var(--dim)}\n"
	"details{margin:.3rem 0}details div,div.wide{overflow-x:auto}details div{max-height:24rem}\n"
	"table{border-collapse:collapse;font-size:14px}td,th{padding:.2rem .7rem;border-bottom:1px solid var(--line);"
	"text-align:left;vertical-align:top}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
	"svg{display:block;width:100%;height:auto}svg text{fill:var(--ink);font:12px system-ui,sans-serif}\n"
	"svg .grid{stroke:var(--line)}svg .axis{stroke:var(--dim)}svg .curve{fill:none;stroke-width:1.8}\n"
	"svg .leader{stroke:var(--dim);opacity:.5;fill:none}\n"
	"svg .reference{stroke-dasharray:6 4;stroke-width:1.4}svg .ring{fill:none;stroke:var(--ink);stroke-width:1.5}\n"
	".bar{fill:var(--c0)}.base{fill:var(--c1)}.whisker{stroke:var(--ink)}\n"
	".s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}.s4{stroke:var(--c4)}"
	".s5{stroke:var(--c5)}.s6{stroke:var(--c6)}.s7{stroke:var(--c7)}\n"
	".m0{fill:var(--c0)}.m1{fill:var(--c1)}.m2{fill:var(--c2)}.m3{fill:var(--c3)}.m4{fill:var(--c4)}.m5{fill:var(--c5)}"
	".m6{fill:var(--c6)}.m7{fill:var(--c7)}\n";

FILE *
page_open(const char *path, const char *heading)
{
	FILE *file = fopen(path, "we");

	if (file == NULL)
		return NULL;
	(void)fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
	            "<meta name=\"viewport\" content=\"width=device-width\"/><title>firn: ",
	            file);
	page_text(file, heading);
	(void)fprintf(file, "</title>\n<style>\n%s</style></head>\n<body>\n<h1>", style);
	page_text(file, heading);
	(void)fputs("</h1>\n", file);
	return file;
}

void
page_text(FILE *file, const char *text)
{
	for (; text != NULL && *text != '\0'; text++)
		switch (*text) {
		case '<':
			(void)fputs("&lt;", file);
			break;
		case '>':
			(void)fputs("&gt;", file);
			break;
		case '&':
			(void)fputs("&amp;", file);
			break;
		case '"':
			(void)fputs("&quot;", file);
			break;
		default:
			/* XML knows no control characters. */
			(void)fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
		}
}

char *
page_number(double value, char text[24])
{
	static const struct {
		double from;
		const char *prefix;
	} scales[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};

	for (unsigned i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
		if (fabs(value) >= scales[i].from) {
			(void)snprintf(text, 24, "%.4g%s", value / scales[i].from, scales[i].prefix);
			return text;
		}
	(void)snprintf(text, 24, "%.4g", value);
	return text;
}

int
page_close(FILE *file)
{
	(void)fputs("</body></html>\n", file);
	int failed = ferror(file);

	return fclose(file) != 0 || failed ? -1 : 0;
}
