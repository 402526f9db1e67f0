/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-8.
 */
#include "observe/collect/resolve.h"

#include <fcntl.h>
#include <unistd.h>

#include "check.h"
#include "contract/calls.h"

static char files[64][256];

static void file_seen(void *arg, file_id id, const char *path)
{
	(void)arg;
	REQUIRE(id < 64);
	snprintf(files[id], sizeof(files[id]), "%s", path);
}

/* A record with its fields by name; the strings belong to the caller. */
struct sample {
	unsigned call;
	uint64_t seq;
	uint64_t values[FIELD_COUNT];
	const char *path, *path2, *name, *hints;
	uint64_t parent;
	int error;
};

static const uint64_t *record_make(const struct sample *s)
{
	static uint64_t w[RECORD_WORDS_MAX];
	const struct call_info *call = &call_table[s->call];
	uint64_t *at = w + RECORD_HEAD_WORDS;

	memset(w, 0, sizeof(w));
	for (unsigned i = 0; i < call->field_count; i++) {
		const char *text = call->fields[i] == FIELD_PATH    ? s->path
				   : call->fields[i] == FIELD_PATH2 ? s->path2
				   : call->fields[i] == FIELD_HINTS ? (s->hints ? s->hints : "")
								    : s->name;

		if (call->fields[i] < FIELD_PATH) {
			*at++ = s->values[call->fields[i]];
			continue;
		}
		*at++ = strlen(text);
		memcpy(at, text, strlen(text));
		at += (strlen(text) + 7) / 8;
	}
	w[0] = record_word0(s->seq, s->call);
	w[1] = s->seq * 100;
	w[2] = record_word2(10, (uint64_t)(at - w));
	w[3] = record_word3(s->parent, s->error);
	return w;
}

static struct resolver *resolver;

static struct activity resolve_words(uint32_t process, uint32_t thread, const struct sample *s)
{
	struct activity a;

	resolver_activity(resolver, process, thread, record_make(s), &a);
	return a;
}

static struct activity resolve_record(const struct sample *s)
{
	return resolve_words(0, 0, s);
}

static void start(void)
{
	memset(files, 0, sizeof(files));
	resolver = resolver_new(file_seen, NULL);
	resolver_process(resolver, 0, -1, 0, "/home/me");
}

static void stop(void)
{
	resolver_free(resolver);
}

static uint64_t file_link(uint32_t thread, uint64_t seq)
{
	return link_make(LINK_FILE, id_make(thread, seq));
}

static struct activity open_file(uint64_t seq, int fd, const char *path, int flags)
{
	struct sample s = { .call = CALL_open, .seq = seq, .path = path };

	s.values[FIELD_RESULT] = s.values[FIELD_HANDLE] = (uint64_t)fd;
	s.values[FIELD_FLAGS] = (uint64_t)flags;
	return resolve_record(&s);
}

static struct activity transfer(unsigned call, uint64_t seq, uint64_t link, int64_t bytes)
{
	struct sample s = { .call = call, .seq = seq };

	s.values[FIELD_LINK] = link;
	s.values[FIELD_SIZE] = 4096;
	s.values[FIELD_RESULT] = (uint64_t)bytes;
	s.error = bytes < 0 ? 5 : 0;
	return resolve_record(&s);
}

static void a_write_names_file_and_handle_of_its_open(void)
{
	struct activity a;

	start();
	a = open_file(1, 4, "data/./x//f1", O_RDWR);
	CHECK_TEXT(files[a.file], "/home/me/data/x/f1");
	a = transfer(CALL_write, 2, file_link(0, 1), 4096);
	CHECK_INT(a.link, id_make(0, 1));
	CHECK_INT(a.handle, 4);
	CHECK_TEXT(files[a.file], "/home/me/data/x/f1");
	CHECK_INT(a.layer, LAYER_POSIX);
	stop();
}

static void positions_follow_reads_writes_and_seeks(void)
{
	struct sample seek = { .call = CALL_lseek, .seq = 4 };
	struct activity a;

	start();
	open_file(1, 4, "/f", O_RDWR);
	CHECK_INT(transfer(CALL_write, 2, file_link(0, 1), 4096).offset, 0);
	CHECK_INT(transfer(CALL_read, 3, file_link(0, 1), 100).offset, 4096);
	seek.values[FIELD_LINK] = file_link(0, 1);
	seek.values[FIELD_RESULT] = seek.values[FIELD_OFFSET] = 10229760;
	resolve_record(&seek);
	CHECK_INT(transfer(CALL_write, 5, file_link(0, 1), -1).offset, 10229760);
	a = transfer(CALL_write, 6, file_link(0, 1), 10);
	CHECK_INT(a.offset, 10229760);
	CHECK(a.present & PRESENT(OFFSET));
	stop();
}

static void an_unknown_position_is_not_invented(void)
{
	start();
	open_file(1, 4, "/log", O_WRONLY | O_APPEND);
	CHECK(!(transfer(CALL_write, 2, file_link(0, 1), 10).present & PRESENT(OFFSET)));
	stop();
}

static void duplicates_share_the_position(void)
{
	struct sample dup = { .call = CALL_dup, .seq = 2 };

	start();
	open_file(1, 4, "/f", O_RDWR);
	dup.values[FIELD_LINK] = file_link(0, 1);
	dup.values[FIELD_RESULT] = dup.values[FIELD_HANDLE] = 9;
	CHECK_INT(resolve_record(&dup).link, id_make(0, 1));
	CHECK_INT(transfer(CALL_write, 3, file_link(0, 2), 50).offset, 0);
	CHECK_INT(transfer(CALL_write, 4, file_link(0, 1), 50).offset, 50);
	CHECK_INT(transfer(CALL_write, 5, file_link(0, 2), 50).handle, 9);
	stop();
}

static void a_forked_child_uses_its_parents_handles(void)
{
	struct sample s = { .call = CALL_write, .seq = 1 };
	struct activity a;

	start();
	open_file(1, 4, "/f", O_RDWR);
	transfer(CALL_write, 2, file_link(0, 1), 100);
	resolver_process(resolver, 1, 0, 3, "/home/me");
	s.values[FIELD_LINK] = file_link(0, 1);
	s.values[FIELD_RESULT] = 7;
	a = resolve_words(1, 3, &s);
	CHECK_TEXT(files[a.file], "/f");
	CHECK_INT(a.offset, 100);
	CHECK_INT(transfer(CALL_write, 3, file_link(0, 1), 1).offset, 107);
	stop();
}

static void relative_paths_follow_chdir_and_directory_handles(void)
{
	struct sample chdir = { .call = CALL_chdir, .seq = 1, .path = "sub" };
	struct sample at = { .call = CALL_openat, .seq = 4, .path = "name" };

	start();
	resolve_record(&chdir);
	CHECK_TEXT(files[open_file(2, 4, "f", 0).file], "/home/me/sub/f");
	open_file(3, 5, "/var/spool", O_DIRECTORY);
	at.values[FIELD_LINK2] = file_link(0, 3);
	at.values[FIELD_RESULT] = at.values[FIELD_HANDLE] = 6;
	CHECK_TEXT(files[resolve_record(&at).file], "/var/spool/name");
	stop();
}

static void a_failed_chdir_changes_nothing(void)
{
	struct sample chdir = { .call = CALL_chdir, .seq = 1, .path = "sub", .error = 2 };

	start();
	resolve_record(&chdir);
	CHECK_TEXT(files[open_file(2, 4, "f", 0).file], "/home/me/f");
	stop();
}

static void sockets_are_the_network_layer(void)
{
	struct sample s = { .call = CALL_write, .seq = 2 };

	start();
	s.values[FIELD_LINK] = link_make(LINK_NETWORK, id_make(0, 1));
	CHECK_INT(resolve_record(&s).layer, LAYER_NETWORK);
	stop();
}

static void a_call_that_outlives_its_handle_still_knows_the_file(void)
{
	struct sample close = { .call = CALL_close, .seq = 2 };

	start();
	open_file(1, 4, "/f", O_RDWR);
	close.values[FIELD_LINK] = file_link(0, 1);
	resolve_record(&close);
	CHECK_TEXT(files[transfer(CALL_read, 3, file_link(0, 1), 1).file], "/f");
	stop();
}

static void closed_handles_are_dropped_eventually(void)
{
	struct sample close = { .call = CALL_close };

	start();
	for (uint64_t i = 1; i <= 70000; i++) {
		open_file(2 * i, 4, "/f", O_RDWR);
		close.seq = 2 * i + 1;
		close.values[FIELD_LINK] = file_link(0, 2 * i);
		resolve_record(&close);
	}
	CHECK_INT(resolver_link_file(resolver, 0, file_link(0, 2)), 0);
	CHECK_INT(resolver_link_file(resolver, 0, file_link(0, 140000)), 1);
	stop();
}

static void a_handle_that_a_child_uses_is_not_dropped(void)
{
	struct sample close = { .call = CALL_close }, use = { .call = CALL_write, .seq = 1 };
	struct activity a;

	start();
	resolver_process(resolver, 1, 0, 3, "/");
	open_file(1, 4, "/kept", O_RDWR);
	close.seq = 2;
	close.values[FIELD_LINK] = use.values[FIELD_LINK] = file_link(0, 1);
	resolve_record(&close);
	for (uint64_t i = 2; i <= 200000; i++) {
		open_file(2 * i, 4, "/f", O_RDWR);
		close.seq = 2 * i + 1;
		close.values[FIELD_LINK] = file_link(0, 2 * i);
		resolve_record(&close);
		a = resolve_words(1, 3, &use);
	}
	CHECK_TEXT(files[a.file], "/kept");
	stop();
}

static void replay_restores_the_same_state(void)
{
	struct activity opened, written;

	start();
	opened = open_file(1, 4, "/f", O_RDWR);
	written = transfer(CALL_write, 2, file_link(0, 1), 30);
	stop();
	start();
	resolver_file(resolver, "/f");
	resolver_replay(resolver, &opened);
	resolver_replay(resolver, &written);
	CHECK_INT(transfer(CALL_write, 3, file_link(0, 1), 5).offset, 30);
	stop();
}

static void a_call_of_a_forked_child_knows_the_call_that_forked(void)
{
	struct sample s = { .call = CALL_write, .seq = 12, .parent = 7 };

	start();
	resolver_process(resolver, 1, 0, 3, "/home/me");
	resolver_forked(resolver, 1, 2, 10);
	CHECK_INT(resolve_words(1, 3, &s).parent, id_make(2, 7));
	s.parent = 11;
	CHECK_INT(resolve_words(1, 3, &s).parent, id_make(3, 11));
	s.parent = 7;
	CHECK_INT(resolve_words(1, 4, &s).parent, id_make(4, 7));
	stop();
}

static void handles_of_libraries_refer_to_their_file(void)
{
	struct sample file = { .call = CALL_H5Fcreate, .seq = 1, .path = "f.h5" };
	struct sample set = { .call = CALL_H5Dopen2, .seq = 2, .name = "group/x" };
	struct sample moved = { .call = CALL_H5Dwrite, .seq = 3 };
	struct activity a;

	start();
	file.values[FIELD_HANDLE] = 100;
	resolve_words(0, 0, &file);
	set.values[FIELD_LINK] = file_link(0, 1);
	set.values[FIELD_HANDLE] = 200;
	a = resolve_words(0, 0, &set);
	CHECK_TEXT(files[a.file], "/home/me/f.h5");
	CHECK_TEXT(files[a.name], "group/x");
	moved.values[FIELD_LINK] = file_link(0, 2);
	a = resolve_words(0, 0, &moved);
	CHECK_TEXT(files[a.file], "/home/me/f.h5");
	CHECK_INT(a.link, id_make(0, 2));
	CHECK_INT(a.handle, 200);
	CHECK(!(a.present & PRESENT(OFFSET)));
	stop();
}

static void the_driver_prefix_is_removed_from_mpi_paths(void)
{
	struct sample s = { .call = CALL_MPI_File_open, .seq = 1, .path = "ufs:/f" };

	start();
	CHECK_TEXT(files[resolve_words(0, 0, &s).file], "/f");
	s.seq = 2;
	s.path = "other:/f";
	CHECK_TEXT(files[resolve_words(0, 0, &s).file], "/home/me/other:/f");
	stop();
}

static void hints_are_stored_in_the_file_table(void)
{
	struct sample s = { .call = CALL_MPI_File_open,
			    .seq = 1,
			    .path = "/f",
			    .hints = "cb_nodes=1;cb_write=enable" };

	start();
	CHECK_TEXT(files[resolve_words(0, 0, &s).hints], "cb_nodes=1;cb_write=enable");
	s.seq = 2;
	s.hints = "";
	CHECK_INT(resolve_words(0, 0, &s).hints, 0);
	stop();
}

static void a_wait_finds_the_file_of_its_operation(void)
{
	struct sample open = { .call = CALL_MPI_File_open, .seq = 1, .path = "/f" };
	struct sample begin = { .call = CALL_MPI_File_iwrite_at, .seq = 2 };
	struct sample wait = { .call = CALL_MPI_Wait, .seq = 3 };

	start();
	open.values[FIELD_HANDLE] = 1;
	resolve_words(0, 0, &open);
	begin.values[FIELD_LINK] = file_link(0, 1);
	resolve_words(0, 0, &begin);
	wait.values[FIELD_LINK] = id_make(0, 2);
	CHECK_TEXT(files[resolve_words(0, 1, &wait).file], "/f");
	stop();
}

static void an_unknown_offset_is_absent(void)
{
	struct sample s = { .call = CALL_MPI_File_write, .seq = 1 };

	start();
	s.values[FIELD_OFFSET] = UINT64_MAX;
	CHECK(!(resolve_words(0, 0, &s).present & PRESENT(OFFSET)));
	s.values[FIELD_OFFSET] = 8;
	CHECK_INT(resolve_words(0, 0, &s).offset, 8);
	stop();
}

/* Regression: the sum of two numbers of the program overflowed. */
static void a_position_that_cannot_exist_is_unknown(void)
{
	struct sample seek = { .call = CALL_fseek, .seq = 4 };
	struct activity a;

	start();
	open_file(1, 4, "/f", O_RDWR);
	transfer(CALL_write, 2, file_link(0, 1), INT64_MAX);
	a = transfer(CALL_write, 3, file_link(0, 1), INT64_MAX);
	CHECK_INT(a.offset, INT64_MAX);
	CHECK(!(transfer(CALL_write, 4, file_link(0, 1), 1).present & PRESENT(OFFSET)));
	open_file(5, 5, "/g", O_RDWR);
	seek.values[FIELD_LINK] = file_link(0, 5);
	seek.values[FIELD_OFFSET] = INT64_MAX;
	seek.values[FIELD_FLAGS] = SEEK_CUR;
	resolve_record(&seek);
	seek.seq++;
	resolve_record(&seek);
	stop();
}

/* A child of a process that has ended may start to record later. */
static void handles_of_recently_ended_processes_are_known(void)
{
	start();
	resolver_process(resolver, 1, 0, 3, "/");
	open_file(1, 4, "/f", O_RDWR);
	resolver_ended(resolver, 0);
	CHECK_INT(resolver_link_file(resolver, 1, file_link(0, 1)), 1);
	for (uint32_t i = 2; i < 3000; i++) {
		resolver_process(resolver, i, -1, 0, "/");
		resolver_ended(resolver, i);
	}
	CHECK_INT(resolver_link_file(resolver, 1, file_link(0, 1)), 0);
	stop();
}

static void handles_beyond_the_limit_are_counted(void)
{
	start();
	resolver_process(resolver, 1, -1, 0, "/");
	for (uint64_t i = 1; i <= HANDLES_MAX + 10; i++)
		open_file(i, 4, "/f", O_RDWR);
	CHECK_INT(resolver_counts(resolver).handles_over, 10);
	CHECK_INT(resolver_link_file(resolver, 0, file_link(0, HANDLES_MAX)), 1);
	CHECK_INT(resolver_link_file(resolver, 0, file_link(0, HANDLES_MAX + 1)), 0);
	/* An ended process makes room. */
	resolver_ended(resolver, 0);
	resolve_words(1, 0,
		      &(struct sample){ .call = CALL_open,
					.seq = 1,
					.path = "/g",
					.values = { [FIELD_HANDLE] = 3 } });
	CHECK_INT(resolver_link_file(resolver, 1, file_link(0, 1)), 2);
	CHECK_INT(resolver_counts(resolver).handles_over, 10);
	stop();
}

/* Only a damaged record has number 0. */
static void a_handle_without_a_number_is_ignored(void)
{
	start();
	for (int i = 0; i < 100; i++)
		open_file(0, 4, "/f", O_RDWR);
	CHECK_INT(resolver_counts(resolver).handles_over, 0);
	stop();
}

TESTS(TEST(a_write_names_file_and_handle_of_its_open),
      TEST(positions_follow_reads_writes_and_seeks), TEST(an_unknown_position_is_not_invented),
      TEST(duplicates_share_the_position), TEST(a_forked_child_uses_its_parents_handles),
      TEST(relative_paths_follow_chdir_and_directory_handles), TEST(a_failed_chdir_changes_nothing),
      TEST(sockets_are_the_network_layer),
      TEST(a_call_that_outlives_its_handle_still_knows_the_file),
      TEST(closed_handles_are_dropped_eventually), TEST(a_handle_that_a_child_uses_is_not_dropped),
      TEST(replay_restores_the_same_state),
      TEST(a_call_of_a_forked_child_knows_the_call_that_forked),
      TEST(handles_of_libraries_refer_to_their_file),
      TEST(the_driver_prefix_is_removed_from_mpi_paths), TEST(hints_are_stored_in_the_file_table),
      TEST(a_wait_finds_the_file_of_its_operation), TEST(an_unknown_offset_is_absent),
      TEST(a_position_that_cannot_exist_is_unknown),
      TEST(handles_of_recently_ended_processes_are_known),
      TEST(handles_beyond_the_limit_are_counted), TEST(a_handle_without_a_number_is_ignored))
