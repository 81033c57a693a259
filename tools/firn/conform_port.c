/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A port as a subject: a child process that answers one line for each line. */
#include "conform.h"
#include "firn_tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Longer than any answer takes; a port that hangs must not hang its judge. */
#define ANSWER_MS 20000
#define ANSWER_MAX (256 * 1024 * 1024)

struct port {
	struct subject subject;
	pid_t pid;
	int to;
	int from;
	char *buffer;
	size_t room;
	size_t size;
};

static int
send_line(struct port *port, const json_t *request)
{
	char *line = json_dumps(request, JSON_COMPACT | JSON_ENSURE_ASCII);
	size_t size;
	size_t at = 0;

	if (line == NULL)
		return 0;
	size = strlen(line);
	line[size++] = '\n'; /* over the NUL */
	while (at < size) {
		ssize_t written = write(port->to, line + at, size - at);
		struct pollfd room = {port->to, POLLOUT, 0};

		/* Full, and not read from: the port has as long as for an answer. */
		if (written < 0 && (errno == EINTR || (errno == EAGAIN && poll(&room, 1, ANSWER_MS) != 0)))
			continue;
		if (written <= 0)
			break;
		at += (size_t)written;
	}
	free(line);
	return at == size;
}

/* The next line, without its end; NULL after a message. */
static char *
read_line(struct port *port)
{
	for (;;) {
		char *end = port->size > 0 ? memchr(port->buffer, '\n', port->size) : NULL;
		struct pollfd wait = {port->from, POLLIN, 0};

		if (end != NULL) {
			*end = '\0';
			return port->buffer;
		}
		if (port->size + 65536 > port->room) {
			size_t room = port->room * 2 + 131072;
			char *more = room <= ANSWER_MAX ? realloc(port->buffer, room) : NULL;

			if (more == NULL) {
				complain("the port's answer is too long");
				return NULL;
			}
			port->buffer = more;
			port->room = room;
		}
		int ready = poll(&wait, 1, ANSWER_MS);

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0) {
			complain("the port did not answer within %d s", ANSWER_MS / 1000);
			return NULL;
		}
		ssize_t got = read(port->from, port->buffer + port->size, port->room - port->size - 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			complain("the port ended without answering");
			return NULL;
		}
		port->size += (size_t)got;
	}
}

static json_t *
ask(struct subject *subject, const json_t *request)
{
	struct port *port = (struct port *)subject;
	json_error_t error;

	if (port->size > 0) {
		complain("the port answers what it was not asked: %.*s", port->size < 80 ? (int)port->size : 80,
		         port->buffer);
		return NULL;
	}
	if (!send_line(port, request)) {
		complain("the port takes no requests: %s", strerror(errno));
		return NULL;
	}
	char *line = read_line(port);

	if (line == NULL)
		return NULL;
	size_t used = strlen(line) + 1;
	json_t *answer = json_loads(line, JSON_REJECT_DUPLICATES, &error);

	if (!json_is_object(answer)) {
		complain("the port's answer is not a JSON object: %.80s", line);
		json_decref(answer);
		answer = NULL;
	}
	memmove(port->buffer, port->buffer + used, port->size - used);
	port->size -= used;
	return answer;
}

static void
close_port(struct subject *subject)
{
	struct port *port = (struct port *)subject;

	/* The end of its input asks it to end; what does not, is ended. */
	(void)close(port->to);
	for (unsigned i = 0; i < 100; i++) {
		if (waitpid(port->pid, NULL, WNOHANG) != 0)
			goto ended;
		(void)usleep(10000);
	}
	(void)kill(port->pid, SIGKILL);
	(void)waitpid(port->pid, NULL, 0);
ended:
	(void)close(port->from);
	free(port->buffer);
	free(port);
}

struct subject *
subject_port(char *const argv[])
{
	struct port *port = calloc(1, sizeof(*port));
	int to[2];
	int from[2];

	if (port == NULL || pipe(to) != 0) {
		free(port);
		return NULL;
	}
	if (pipe(from) != 0) {
		(void)close(to[0]);
		(void)close(to[1]);
		free(port);
		return NULL;
	}
	port->pid = fork();
	if (port->pid == 0) {
		(void)dup2(to[0], STDIN_FILENO);
		(void)dup2(from[1], STDOUT_FILENO);
		(void)close(to[0]);
		(void)close(to[1]);
		(void)close(from[0]);
		(void)close(from[1]);
		(void)signal(SIGPIPE, SIG_DFL);
		(void)execvp(argv[0], argv);
		complain("%s: %s", argv[0], strerror(errno));
		_exit(127);
	}
	(void)close(to[0]);
	(void)close(from[1]);
	(void)fcntl(to[1], F_SETFL, O_NONBLOCK);
	if (port->pid < 0) {
		complain("cannot start the port: %s", strerror(errno));
		(void)close(to[1]);
		(void)close(from[0]);
		free(port);
		return NULL;
	}
	port->to = to[1];
	port->from = from[0];
	port->subject.ask = ask;
	port->subject.close = close_port;
	return &port->subject;
}
