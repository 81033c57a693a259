/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The firn command: picking the subcommand, and the help that all share. */
#include "firn_tool.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static const char help[] =
	"firn makes and reads unique, time-ordered 64-bit IDs.\n"
	"\n"
	"  firn next [-n COUNT]          make IDs through a state file shared by this host's processes\n"
	"  firn decode [ID ...]          take IDs apart (from standard input if none is given)\n"
	"  firn layout list|show|check|plan\n"
	"                                know, draw, check and choose layouts\n"
	"  firn clock                    clocks of this host: resolution, cost, health\n"
	"  firn state show|check|adopt   look at a state file\n"
	"  firn conform FILE ...         hold the library, or a port, to vector files\n"
	"  firn bench [latency|ceiling|compare|record]\n"
	"                                what an ID costs on this machine\n"
	"\n"
	"  firn COMMAND --help           options and examples of a command\n"
	"  firn --version\n"
	"\n"
	"Data goes to standard output, talk to standard error; --json works with every command and\n"
	"writes IDs as strings. NO_COLOR is respected.\n"
	"\n"
	"Exit codes: 0 done; 1 something differs, or an input was refused; 2 the call is wrong;\n"
	"3 the library refused (the message says what to do); 4 the output could not be written.\n";

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"next", cmd_next},   {"decode", cmd_decode}, {"inspect", cmd_decode}, {"layout", cmd_layout},
	{"clock", cmd_clock}, {"state", cmd_state},   {"conform", cmd_conform},
	{"bench", cmd_bench},
};

static int
run(int argc, char **argv)
{
	if (argc < 2) {
		(void)fputs(help, stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0 || strcmp(argv[1], "-h") == 0) {
		(void)fputs(help, stdout);
		return EXIT_OK;
	}
	if (strcmp(argv[1], "--version") == 0) {
		(void)printf("firn %s\n", firn_version());
		return EXIT_OK;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, argv[1]) == 0) {
			command_name = commands[i].name;
			return commands[i].run(argc - 1, argv + 1);
		}
	complain("no command '%s'; 'firn --help' lists them", argv[1]);
	return EXIT_USAGE;
}

int
main(int argc, char **argv)
{
	/* A reader that goes away early (head) is seen as a failed write, and reported. */
	(void)signal(SIGPIPE, SIG_IGN);
	int code = run(argc, argv);

	errno = 0;
	if (fflush(stdout) != 0 || ferror(stdout)) {
		complain("cannot write the output%s%s", errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
		if (code == EXIT_OK || code == EXIT_DIFFERS)
			code = EXIT_OUTPUT;
	}
	return code;
}
