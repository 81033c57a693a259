/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* firn state: a state file shown, checked, or adopted from another machine. */
#include "firn_tool.h"

#include <string.h>

#include "layout/time.h"

static const char help[] =
	"firn state show [FILE]            what a state file says, and who uses it\n"
	"firn state check [FILE]           exit 0 if it can be opened here, 3 with the reason if not\n"
	"firn state adopt FILE [--margin MS]\n"
	"                                  bind a file from another machine to this one. Only when that\n"
	"                                  machine will never issue with this node number again. The next\n"
	"                                  start lies at least the margin (default 10000) above both the\n"
	"                                  file's mark and this machine's clock\n"
	"\n"
	"  --json\n"
	"\n"
	"Without FILE: the one that 'firn next' uses.\n"
	"\n"
	"examples:\n"
	"  firn state show\n"
	"  firn state check /var/lib/app/ids.state --json\n";

static void
print_info(const char *path, const struct firn_state_info *info)
{
	char text[FIRN_LAYOUT_TEXT_MAX] = {0};
	char mark[FIRNI_TIME_TEXT_MAX];
	char written[FIRNI_TIME_TEXT_MAX];

	if (firn_layout_print(&info->layout, text, sizeof(text)) != FIRN_OK)
		text[0] = '\0';
	(void)firni_time_write(info->mark_ms, 1, mark);
	(void)firni_time_write(info->written_ms, 1, written);
	(void)printf("%s%s%s\n", bold(), path, plain());
	(void)printf("  layout   %s\n", text);
	(void)printf("  node     %llu\n", (unsigned long long)info->node);
	(void)printf("  mark     %s  word %llu%s\n", mark, (unsigned long long)info->mark,
	             info->clean ? "  (closed cleanly: exactly the next word)" : "");
	(void)printf("  written  %s, %llu times%s\n", written, (unsigned long long)info->sequence,
	             info->same_boot ? "" : ", before this machine last booted");
	(void)printf("  slots    %d of 2 valid%s\n", info->slots_valid,
	             info->slots_valid == 2 ? "" : ": a write was cut off, or the disk damaged one");
	if (!info->in_use)
		(void)printf("  users    none\n");
	else
		(void)printf("  users    in use, %u reachable\n", info->users);
	if (!info->same_machine)
		(void)printf("  machine  another one\n");
}

static int
show(const char *path, int json, int check)
{
	struct firn_state_info info;
	int error;

	memset(&info, 0, sizeof(info));
	error = firn_state_read(path, &info);
	if (error != FIRN_OK && (error != FIRN_E_STATE_MACHINE || check))
		return state_refuse(json, path, error);
	if (json)
		return json_print(json_pack(
			"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:i, s:b, s:b, s:b, s:i}", "path", json_bytes(path, strlen(path)),
			"layout", json_layout(&info.layout), "node", json_u64(info.node), "mark", json_u64(info.mark), "mark_time",
			json_time(info.mark_ms), "writes", json_u64(info.sequence), "written", json_time(info.written_ms),
			"clean", info.clean, "slots_valid", info.slots_valid, "same_machine", info.same_machine,
			"same_boot", info.same_boot, "in_use", info.in_use, "users", (int)info.users));
	if (check)
		(void)printf("%s: sound\n", path);
	else
		print_info(path, &info);
	return EXIT_OK;
}

int
cmd_state(int argc, char **argv)
{
	const char *json = NULL, *margin = NULL, *want_help = NULL;
	const struct option_spec specs[] = {
		{"--json", NULL, &json, 1},
		{"--margin", NULL, &margin, 0},
		{"--help", "-h", &want_help, 1},
	};
	char standard[4096];
	const char *path;
	uint64_t margin_ms;

	if (options_read(&argc, argv, specs, sizeof(specs) / sizeof(specs[0])) != EXIT_OK)
		return EXIT_USAGE;
	if (want_help != NULL)
		return fputs(help, stdout) == EOF ? EXIT_OUTPUT : EXIT_OK;
	const char *verb = argc > 0 ? argv[0] : "";

	if (argc > 2 || (strcmp(verb, "show") != 0 && strcmp(verb, "check") != 0 && strcmp(verb, "adopt") != 0)) {
		complain("say show, check or adopt, and one file; 'firn state --help' explains");
		return EXIT_USAGE;
	}
	if (margin != NULL && strcmp(verb, "adopt") != 0) {
		complain("--margin is for adopt");
		return EXIT_USAGE;
	}
	if (argc == 2) {
		path = argv[1];
	} else if (strcmp(verb, "adopt") == 0) {
		complain("adopt needs the file's name");
		return EXIT_USAGE;
	} else {
		int code = state_path_default(standard, sizeof(standard), 0);

		if (code != EXIT_OK)
			return code;
		path = standard;
	}
	if (strcmp(verb, "adopt") != 0)
		return show(path, json != NULL, strcmp(verb, "check") == 0);
	if (!number_read(margin != NULL ? margin : "10000", 0, UINT32_MAX, &margin_ms)) {
		complain("--margin takes milliseconds, not '%s'", margin);
		return EXIT_USAGE;
	}
	int error = firn_state_adopt(path, (uint32_t)margin_ms);

	return error != FIRN_OK ? state_refuse(json != NULL, path, error) : show(path, json != NULL, 0);
}
