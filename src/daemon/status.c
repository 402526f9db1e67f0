/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "daemon/counters.h"
#include "wire/frame.h"

#define ANSWER_S 10

uint64_t status_resident_bytes(void)
{
	AUTO_FCLOSE FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long total, resident;

	if (!file || fscanf(file, "%llu %llu", &total, &resident) != 2)
		return 0;
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void write_counters(struct json *json, const struct status_view *view)
{
	const struct counters *counters = view->counters;

	json_count(json, "clients", counters->clients);
	json_count(json, "connections", counters->connections);
	json_count(json, "frames", counters->frames);
	json_count(json, "bytes", counters->bytes);
	json_count(json, "hellos", counters->hellos);
	json_open(json, "sums", '{');
	json_count(json, "messages", view->sums.messages);
	json_count(json, "rows", view->sums.rows);
	json_count(json, "calls", view->sums.calls);
	json_close(json);
	json_open(json, "backlogs", '{');
	json_count(json, "messages", view->backlogs.messages);
	json_count(json, "ignored", view->backlogs.ignored);
	json_count(json, "shared", view->backlogs.backlogs);
	json_close(json);
	json_open(json, "memory", '{');
	json_count(json, "limit", view->memory_limit);
	json_count(json, "resident", status_resident_bytes());
	json_count(json, "clients_limit", counters->memory_limit);
	json_count(json, "used", counters->memory);
	json_count(json, "peak", counters->memory_peak);
	json_close(json);
	json_open(json, "refused", '{');
	for (int i = 0; i < REFUSAL_COUNT; i++)
		json_count(json, refusal_names[i], counters->refusals[i]);
	json_close(json);
}

static void write_forwarder(struct json *json, const struct forwarder_status *status)
{
	const struct disk_queue_status *queue = &status->queue;

	json_open(json, "database", '{');
	json_bool(json, "connected", status->is_connected);
	json_count(json, "applied", status->applied);
	json_count(json, "invalid", status->invalid);
	json_count(json, "traces_waiting", status->traces);
	json_count(json, "traces_failed", status->failed);
	json_close(json);
	json_open(json, "queue", '{');
	json_text(json, "id", status->stream);
	json_count(json, "frames", queue->durable - queue->released);
	json_count(json, "bytes", queue->bytes);
	json_count(json, "last", queue->durable);
	json_count(json, "refused", queue->refused);
	json_count(json, "failures", queue->failures);
	json_count(json, "lost", queue->lost);
	json_count(json, "torn_bytes", queue->torn_bytes);
	json_close(json);
}

static void write_reception(struct json *json, const struct reception_counts *counts)
{
	json_open(json, "collected", '{');
	json_count(json, "runs", counts->runs);
	json_count(json, "spools", counts->spools);
	json_count(json, "activities", counts->activities);
	json_count(json, "accepted", counts->accepted);
	json_count(json, "refused", counts->refused);
	json_count(json, "repeated", counts->repeated);
	json_close(json);
}

/* Likely causes of the node and of the site. */
static void write_causes(struct json *json, const struct status_view *view)
{
	const struct alert *alert = &view->alert;

	if (alert->is_raised)
		json_text(json, "cause", view->with_names ? alert->cause : alert->kind);
	if (!*alert->verdict)
		return;
	json_open(json, "verdict", '{');
	json_text(json, "cause", alert->verdict_kind);
	if (view->with_names)
		json_text(json, "detail", alert->verdict);
	json_close(json);
}

static void write_traces(struct json *json, const struct status_view *view)
{
	const struct submission_counts *counts = &view->submission;

	json_open(json, "traces", '{');
	json_count(json, "kept", counts->retention.traces);
	json_count(json, "bytes", counts->retention.bytes);
	json_count(json, "limit", view->traces_limit);
	json_count(json, "removed", counts->retention.removed);
	json_count(json, "removed_unsent", counts->retention.removed_unsent);
	json_count(json, "submitted", counts->taken);
	json_count(json, "submitted_waiting", counts->waiting);
	json_count(json, "submitted_failed", counts->failed);
	json_close(json);
}

void status_write(struct buf *out, const struct status_view *view)
{
	char *text = NULL;
	size_t n = 0;
	FILE *stream = xmemstream(&text, &n);
	struct json json;

	json_start(&json, stream, "sluice.daemon/1");
	json_text(&json, "version", SLUICE_VERSION);
	json_count(&json, "pid", (uint64_t)getpid());
	json_double(&json, "uptime_s", view->uptime_s);
	json_count(&json, "rules", (uint64_t)view->rules);
	json_bool(&json, "alert", view->alert.is_raised);
	write_causes(&json, view);
	write_counters(&json, view);
	write_reception(&json, &view->reception);
	write_traces(&json, view);
	if (view->has_forwarder)
		write_forwarder(&json, &view->forwarder);
	json_end(&json);
	fclose(stream);
	buf_add(out, text, n);
	free(text);
}

static int connect_to(const char *path, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval timeout = { .tv_sec = ANSWER_S };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		err_set(err, errno, "%s: no daemon listens to this socket: %s", path,
			strerror(errno));
		close(fd);
		return -ENODATA;
	}
	return fd;
}

static int receive_answer(int fd, struct buf *out, struct err *err)
{
	AUTO_BUF struct buf bytes = { 0 };
	struct frame frame;
	int r;

	while ((r = frame_decode(&frame, buf_text(&bytes), bytes.len, FRAME_PAYLOAD_MAX, NULL)) ==
	       0) {
		ssize_t n;

		buf_reserve(&bytes, 65536);
		n = recv(fd, bytes.data + bytes.len, 65536, 0);
		if (n <= 0)
			return err_set(err, n ? errno : EPIPE, "the daemon did not answer");
		bytes.len += (size_t)n;
	}
	if (r < 0)
		return err_set(err, -r, "the answer of the daemon is invalid: %s",
			       frame_problem(r));
	if (frame.type != FRAME_STATUS)
		return err_set(err, EACCES, "the daemon refused: %.*s", (int)frame.length,
			       (const char *)frame.payload);
	buf_add(out, frame.payload, frame.length);
	return 0;
}

int status_ask(struct buf *out, const char *socket_path, struct err *err)
{
	struct frame_header request;
	int fd = connect_to(socket_path, err), r;

	if (fd < 0)
		return fd;
	frame_seal(&request, FRAME_STATUS_REQUEST, 0, "", 0);
	if (send(fd, &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request))
		r = err_set(err, errno, "%s: %s", socket_path, strerror(errno));
	else
		r = receive_answer(fd, out, err);
	close(fd);
	return r;
}
