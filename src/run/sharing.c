/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/sharing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/mem.h"
#include "base/trusted.h"
#include "contract/exchange.h"
#include "contract/policy.h"
#include "contract/spool.h"
#include "observe/collect/collector.h"
#include "observe/collect/mapping.h"
#include "run/daemon_link.h"
#include "wire/frame.h"

#define ACTIVE_NS (100 * NS_PER_MS) /* between two questions while files are placed */
#define QUIET_NS NS_PER_S	    /* and otherwise */
#define LOOK_NS (20 * NS_PER_MS)
#define RETRY_NS (5 * NS_PER_S)	 /* after the daemon could not be reached */
#define ANSWER_NS (2 * NS_PER_S) /* an answer that takes longer is not waited for */
#define FIRST_MS 100

/* A message as it is on the wire. */
struct packet {
	struct frame_header header;
	struct exchange body;
};

struct sharing {
	const struct control_placement *placement; /* of the run */
	struct mapping backlog;
	uint64_t id; /* of the backlog */
	char socket[POLICY_SOCKET_BYTES];
	int fd; /* -1: not connected */
	int64_t look_ns, asked_ns;
	bool waits;   /* for an answer */
	bool is_over; /* the site does not want it */
	struct packet question, answer;
	size_t received;		   /* bytes of the answer */
	uint16_t targets[BACKLOG_TARGETS]; /* by index of the question */
	struct backlog_view view;
	struct backlog_sum sums[BACKLOG_TARGETS];
};

static struct backlog *backlog_of(const struct sharing *sharing)
{
	return sharing->backlog.base;
}

static void disconnect(struct sharing *sharing, int64_t now)
{
	if (sharing->fd >= 0)
		close(sharing->fd);
	sharing->fd = -1;
	sharing->waits = false;
	sharing->look_ns = now + RETRY_NS;
}

/* --- the question --- */

/* Is it this recorder's turn to ask? Other runs of the user may have asked already. */
static bool take_turn(struct sharing *sharing, int64_t now)
{
	_Atomic uint64_t *exchanged = &backlog_of(sharing)->exchanged_ns;
	uint64_t last = atomic_load(exchanged), used = atomic_load(&sharing->placement->last_ns);
	bool is_active = used + NS_PER_S > (uint64_t)now;
	uint64_t pause = is_active ? ACTIVE_NS : QUIET_NS;

	/* A time in the future is from before a restart of the machine. */
	if (last <= (uint64_t)now && (uint64_t)now < last + pause)
		return false;
	return atomic_compare_exchange_strong(exchanged, &last, (uint64_t)now);
}

static int compare_sums(const void *a, const void *b)
{
	const struct backlog_sum *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* Finds the targets of the question again: its sums were sorted by their keys. */
static void find_targets(struct sharing *sharing)
{
	struct exchange *body = &sharing->question.body;

	for (unsigned i = 0; i < BACKLOG_TARGETS; i++) {
		const struct backlog_sum *found =
			sharing->sums[i].key ? bsearch(&sharing->sums[i], body->sums, body->count,
						       sizeof(body->sums[0]), compare_sums)
					     : NULL;

		if (found)
			sharing->targets[found - body->sums] = (uint16_t)i;
	}
}

/* Fills in the question. The backlog is that of the user, who may have written anything. */
static void compose(struct sharing *sharing, int64_t now)
{
	struct exchange *body = &sharing->question.body;
	uint32_t count = 0, n = 0;

	backlog_sum_up(backlog_of(sharing), (uint64_t)now, &sharing->view, sharing->sums);
	for (unsigned i = 0; i < BACKLOG_TARGETS; i++)
		if (sharing->sums[i].key)
			body->sums[count++] = sharing->sums[i];
	qsort(body->sums, count, sizeof(body->sums[0]), compare_sums);
	for (uint32_t i = 0; i < count; i++)
		if (!n || body->sums[i].key != body->sums[n - 1].key)
			body->sums[n++] = body->sums[i];
	body->version = EXCHANGE_VERSION;
	body->count = n;
	body->backlog = sharing->id;
	find_targets(sharing);
}

static void ask(struct sharing *sharing, int64_t now)
{
	struct packet *packet = &sharing->question;
	size_t bytes;

	if (sharing->fd < 0)
		sharing->fd = daemon_link_connect(sharing->socket, 1);
	if (sharing->fd < 0) {
		disconnect(sharing, now);
		return;
	}
	compose(sharing, now);
	bytes = exchange_bytes(packet->body.count);
	frame_seal(&packet->header, FRAME_BACKLOG, 0, &packet->body, (uint32_t)bytes);
	bytes += sizeof(packet->header);
	if (send(sharing->fd, packet, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)bytes) {
		disconnect(sharing, now);
		return;
	}
	sharing->asked_ns = now;
	sharing->received = 0;
	sharing->waits = true;
}

/* --- the answer --- */

static bool is_answer(const struct sharing *sharing, const struct frame *frame)
{
	const struct exchange *asked = &sharing->question.body, *body = &sharing->answer.body;

	if (frame->type != FRAME_OTHERS || !exchange_is_valid(body, frame->length) ||
	    (body->count && body->count != asked->count))
		return false;
	for (uint32_t i = 0; i < body->count; i++)
		if (body->sums[i].key != asked->sums[i].key)
			return false;
	return true;
}

static void use_answer(struct sharing *sharing, int64_t now)
{
	const struct exchange *body = &sharing->answer.body;

	sharing->waits = false;
	sharing->is_over = !body->count;
	memset(sharing->sums, 0, sizeof(sharing->sums));
	for (uint32_t i = 0; i < body->count; i++)
		sharing->sums[sharing->targets[i]] = body->sums[i];
	backlog_set_others(backlog_of(sharing), sharing->sums, (uint64_t)now);
	if (sharing->is_over)
		disconnect(sharing, now);
}

/* Receives what there is of the answer. */
static void receive(struct sharing *sharing, int64_t now)
{
	char *packet = (char *)&sharing->answer;
	ssize_t n = recv(sharing->fd, packet + sharing->received,
			 sizeof(sharing->answer) - sharing->received, MSG_DONTWAIT);
	struct frame frame;
	int r;

	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		if (now - sharing->asked_ns > ANSWER_NS)
			disconnect(sharing, now);
		return;
	}
	if (n <= 0) {
		disconnect(sharing, now);
		return;
	}
	sharing->received += (size_t)n;
	r = frame_decode(&frame, packet, sharing->received, sizeof(struct exchange), NULL);
	if (r > 0 && is_answer(sharing, &frame))
		use_answer(sharing, now);
	else if (r)
		disconnect(sharing, now);
}

void sharing_poll(struct sharing *sharing)
{
	int64_t now;

	if (!sharing || sharing->is_over)
		return;
	now = clock_now_ns();
	if (now < sharing->look_ns)
		return;
	sharing->look_ns = now + LOOK_NS;
	if (sharing->waits)
		receive(sharing, now);
	else if (take_turn(sharing, now))
		ask(sharing, now);
}

/* --- begin and end --- */

static int map_backlog(struct sharing *sharing, const char *directory)
{
	AUTO_FREE char *path = xprintf("%s/" BACKLOG_NAME, directory);
	AUTO_CLOSE int fd = trusted_open_file(AT_FDCWD, path, O_RDWR, TRUSTED_PRIVATE, NULL);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return -ENOENT;
	sharing->id = (uint64_t)st.st_ino ^ (uint64_t)st.st_dev << 40;
	return mapping_open(&sharing->backlog, fd, sizeof(struct backlog));
}

/* The first files must not be placed as if there were no other users. */
static void ask_first(struct sharing *sharing)
{
	int64_t now = clock_now_ns(), until = now + FIRST_MS * NS_PER_MS;

	if (take_turn(sharing, now))
		ask(sharing, now);
	while (sharing->waits && (now = clock_now_ns()) < until) {
		struct pollfd answer = { sharing->fd, POLLIN, 0 };

		poll(&answer, 1, (int)((until - now) / NS_PER_MS) + 1);
		if (answer.revents)
			receive(sharing, clock_now_ns());
	}
}

struct sharing *sharing_open(const struct config *config, const struct collector *collector)
{
	const struct control_placement *placement = &collector_control(collector)->placement;
	AUTO_FREE struct policy *page = NULL;
	struct sharing *sharing;

	if (!placement->count || config_choice(config, SETTING_PLACE_SHARE) == CONFIG_SHARE_OFF ||
	    config_choice(config, SETTING_SITE_USE) == CONFIG_USE_NO)
		return NULL;
	page = daemon_link_policy(config, NULL);
	if (!page)
		return NULL;
	sharing = xcalloc(1, sizeof(*sharing));
	sharing->fd = -1;
	sharing->placement = placement;
	memcpy(sharing->socket, page->socket, sizeof(sharing->socket));
	if (map_backlog(sharing, collector_directory(collector)) < 0) {
		free(sharing);
		return NULL;
	}
	ask_first(sharing);
	return sharing;
}

void sharing_close(struct sharing *sharing)
{
	if (!sharing)
		return;
	if (sharing->fd >= 0)
		close(sharing->fd);
	mapping_close(&sharing->backlog);
	free(sharing);
}
