/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests the reception with messages of hostile clients: wrong descriptors, wrong content, files
 * that change, too much of everything. What processes really send is tested by run/handover*.sh.
 */
#include "observe/collect/reception.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "contract/clock.h"

static char work[] = "/tmp/sluice-reception-XXXXXX";
static char spools[64], traces[64];
static struct reception *reception;
static struct err err;
static unsigned ended, released;
static uint64_t last_ticket;

static void on_end(void *arg, const struct reception_end *end)
{
	(void)arg;
	CHECK(end->trace != NULL);
	ended++;
}

static void on_release(void *arg, uint64_t ticket)
{
	(void)arg;
	last_ticket = ticket;
	released++;
}

static void begin(void)
{
	struct reception_options options = { .spools = spools,
					     .traces = traces,
					     .runs_max = 2,
					     .spools_max = 3,
					     .linger_ns = 1,
					     .on_end = on_end,
					     .on_release = on_release };

	snprintf(spools, sizeof(spools), "%s/spools", work);
	snprintf(traces, sizeof(traces), "%s/traces", work);
	mkdir(spools, 0700);
	ended = released = 0;
	REQUIRE(reception_open(&reception, &options, &err) == 0);
}

static int create(const char *name, const void *bytes, size_t n, size_t size)
{
	AUTO_FREE char *path = xprintf("%s/%s", spools, name);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	REQUIRE(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && ftruncate(fd, (off_t)size) == 0);
	return fd;
}

static int create_control(const char *name)
{
	static struct control control;

	control = (struct control){ .magic = CONTROL_MAGIC,
				    .version = SPOOL_VERSION,
				    .clock = CLOCK_SOURCE_MONOTONIC,
				    .mode = CAPTURE_TRACE,
				    .begin_ticks = clock_monotonic_ns() };
	return create(name, &control, sizeof(control), sizeof(control));
}

/* The spool of a process that is dead. */
static int create_spool(const char *name)
{
	static struct spool_header header;

	header = (struct spool_header){ .magic = SPOOL_MAGIC,
					.version = SPOOL_VERSION,
					.state = SPOOL_LIVE,
					.pid = 1 << 22,
					.process_start = 1,
					.program = "/bin/app" };
	return create(name, &header, sizeof(header), SPOOL_HEADER_BYTES);
}

static struct reception_message message(int control, int spool, unsigned number)
{
	struct reception_message m = {
		.user = geteuid(), .ticket = 100 + number, .fds = { control, spool }, .fd_count = 2
	};

	m.hello =
		(struct hello){ .version = SPOOL_VERSION, .mode = POLICY_TRACE, .number = number };
	snprintf(m.hello.spool, sizeof(m.hello.spool), "0-0-t-%08u-1.spool", number);
	strcpy(m.hello.control, "0-0-t.control");
	return m;
}

static bool is_closed(int fd)
{
	return fcntl(fd, F_GETFD) < 0 && errno == EBADF;
}

/* The message is refused with this error, and its descriptors are closed. */
static void check_refused(const struct reception_message *m, int code)
{
	unsigned before = released;

	CHECK_INT(reception_take(reception, m, &err), -code);
	CHECK_INT(released, before + 1);
	for (size_t i = 0; i < m->fd_count && i < HANDOVER_DESCRIPTORS; i++)
		CHECK(is_closed(m->fds[i]));
}

static void clean(void)
{
	AUTO_FREE char *command = xprintf("rm -rf %s/spools/*", work);

	REQUIRE(system(command) == 0);
}

static void end(void)
{
	reception_close(reception);
	clean();
}

static void wrong_descriptors_are_refused(void)
{
	struct reception_message m;
	int ends[2];

	begin();
	REQUIRE(pipe(ends) == 0);
	m = message(ends[0], ends[1], 0);
	check_refused(&m, EINVAL);
	m = message(create("short.control", "x", 1, 100), create_spool("a.spool"), 0);
	check_refused(&m, EINVAL);
	m = message(create_control("b.control"), create("b.spool", "x", 1, 1), 0);
	check_refused(&m, EINVAL);
	m = message(open("/dev/null", O_RDWR), open("/dev/null", O_RDWR), 0);
	check_refused(&m, EINVAL);
	m = message(open(spools, O_RDONLY | O_DIRECTORY), create_spool("c.spool"), 0);
	check_refused(&m, EINVAL);
	close(create_control("d.control"));
	{
		AUTO_FREE char *path = xprintf("%s/d.control", spools);

		m = message(open(path, O_RDONLY), create_spool("d.spool"), 0);
		check_refused(&m, EINVAL);
	}
	m = message(create_control("e.control"), create_spool("e.spool"), 0);
	m.user = geteuid() + 1;
	check_refused(&m, EINVAL);
	m = message(create("f.control", "", 0, sizeof(struct control)), create_spool("f.spool"), 0);
	check_refused(&m, EINVAL);
	m = message(create_control("g.control"), create("g.spool", "", 0, SPOOL_HEADER_BYTES), 0);
	check_refused(&m, EINVAL);
	CHECK_INT(reception_counts(reception).runs, 0);
	m = message(create_control("h.control"), -1, 0);
	m.fd_count = 1;
	check_refused(&m, EINVAL);
	end();
}

static void wrong_content_is_refused(void)
{
	struct reception_message m;

	begin();
	m = message(create_control("a.control"), create_spool("a.spool"), 0);
	m.hello.version = SPOOL_VERSION + 1;
	check_refused(&m, EPROTONOSUPPORT);
	m = message(create_control("b.control"), create_spool("b.spool"), 0);
	m.hello.mode = POLICY_MODE_COUNT;
	check_refused(&m, EINVAL);
	m = message(create_control("c.control"), create_spool("c.spool"), 0);
	memset(m.hello.job, 'x', sizeof(m.hello.job));
	check_refused(&m, EINVAL);
	m = message(create_control("d.control"), create_spool("d.spool"), 0);
	strcpy(m.hello.spool, "../victim");
	check_refused(&m, EINVAL);
	end();
}

static void a_user_cannot_exceed_the_limits(void)
{
	struct reception_message m;

	begin();
	for (unsigned i = 0; i < 3; i++) {
		char control[32], spool[32];

		sprintf(control, "%u.control", i);
		sprintf(spool, "%u.spool", i);
		m = message(create_control(control), create_spool(spool), i);
		if (i < 2)
			CHECK_INT(reception_take(reception, &m, &err), 0);
		else
			check_refused(&m, EDQUOT);
	}
	CHECK_INT(reception_counts(reception).runs, 2);
	end();
}

static void a_spool_is_taken_once(void)
{
	struct reception_message m;
	int control, spool;

	begin();
	control = create_control("0-0-t.control");
	spool = create_spool("0-0-t-00000000-1.spool");
	m = message(dup(control), dup(spool), 0);
	CHECK_INT(reception_take(reception, &m, &err), 0);
	m = message(dup(control), dup(spool), 0);
	m.ticket = 7;
	CHECK_INT(reception_take(reception, &m, &err), 0);
	CHECK_INT(last_ticket, 7);
	CHECK_INT(reception_counts(reception).repeated, 1);
	CHECK_INT(reception_counts(reception).spools, 1);
	/* Another file with the same number in the same run. */
	m = message(dup(control), create_spool("other.spool"), 0);
	check_refused(&m, EEXIST);
	for (int i = 0; i < 400 && !ended; i++) {
		reception_poll(reception);
		usleep(5000);
	}
	CHECK_INT(ended, 1);
	CHECK_INT(last_ticket, 100);
	CHECK(access(spools, F_OK) == 0);
	/* The run is over: its control page is closed, and the names are gone. */
	m = message(dup(control), create_spool("late.spool"), 1);
	check_refused(&m, ESHUTDOWN);
	{
		AUTO_FREE char *path = xprintf("%s/0-0-t-00000000-1.spool", spools);

		CHECK(access(path, F_OK) < 0);
	}
	close(control);
	close(spool);
	end();
}

static void files_that_shrink_do_no_harm(void)
{
	struct reception_message m;
	int control, spool;

	begin();
	control = create_control("0-0-t.control");
	spool = create_spool("0-0-t-00000000-1.spool");
	m = message(dup(control), dup(spool), 0);
	CHECK_INT(reception_take(reception, &m, &err), 0);
	REQUIRE(ftruncate(control, 0) == 0 && ftruncate(spool, 0) == 0);
	for (int i = 0; i < 400 && !ended; i++) {
		reception_poll(reception);
		usleep(5000);
	}
	CHECK_INT(ended, 1);
	close(control);
	close(spool);
	end();
}

static void make_directory(void)
{
	REQUIRE(mkdtemp(work));
}

static void remove_directory(void)
{
	AUTO_FREE char *command = xprintf("rm -rf %s", work);

	REQUIRE(system(command) == 0);
}

TESTS(TEST(make_directory), TEST(wrong_descriptors_are_refused), TEST(wrong_content_is_refused),
      TEST(a_user_cannot_exceed_the_limits), TEST(a_spool_is_taken_once),
      TEST(files_that_shrink_do_no_harm), TEST(remove_directory))
