/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The queue on disk; disk_queue.h explains its promises. Invariants:
 *
 * - Sequences within a segment are consecutive and begin with the number in its name. Frames of a
 *   segment that have a sequence of the next segment are void: they were never acknowledged.
 * - All segments but the newest are durable. The newest one is durable up to durable_end.
 * - The reader never passes `durable`.
 */
#include "wire/disk_queue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/integer.h"
#include "base/mem.h"
#include "base/trusted.h"

#define SEGMENT_MAGIC UINT32_C(0x31514c53) /* "SLQ1" */
#define SEGMENT_VERSION 1
#define SEGMENT_SUFFIX ".frames"
#define SEGMENT_NAME_BYTES 32
#define SEGMENT_MAX (UINT64_C(1) << 30) /* a longer file was not written by this program */
#define SEQUENCE_MAX (UINT64_C(1) << 62) /* a greater one is damaged */
#define RELEASED_NAME "released"
#define ID_RAW 16

struct segment_header {
	uint32_t magic, version;
	uint8_t id[ID_RAW];
	uint64_t first;
	uint64_t reserved[3];
	uint64_t check; /* XXH3-64 of everything before it */
};

_Static_assert(sizeof(struct segment_header) == 64, "the format of the file");

struct segment {
	uint64_t first; /* its name */
	uint64_t bytes;
};

/* Where a frame begins. */
struct position {
	uint64_t sequence;
	uint64_t segment; /* first sequence of the segment */
	uint64_t offset;
};

/* One of the two slots of the file "released"; they are written by turns. */
struct released_slot {
	uint64_t sequence;
	uint64_t check; /* XXH3-64 of sequence and id */
};

struct disk_queue {
	char *path;
	int directory;
	uint64_t bytes_max, segment_bytes;
	uint8_t id[ID_RAW];
	char id_text[DISK_QUEUE_ID_BYTES + 1];
	pthread_mutex_t lock;	  /* protects everything below, except what one thread owns */
	struct segment *segments; /* in order; the last one is written */
	size_t count, cap;
	struct disk_queue_status status;
	/* Owned by the writing thread. */
	int fd;		      /* of the newest segment; -1: the next append creates one */
	bool directory_dirty; /* a segment was created and its name is not durable yet */
	uint64_t end;	      /* of the newest segment */
	uint64_t durable_end;
	/* Owned by the reading thread. */
	struct position read, base; /* the next frame; the first frame that is not released */
	int read_fd;
	uint64_t read_segment; /* the segment that read_fd belongs to; 0: none */
	int released_fd;
	unsigned slot;
};

static void segment_name(char *name, uint64_t first)
{
	snprintf(name, SEGMENT_NAME_BYTES, "%020" PRIu64 SEGMENT_SUFFIX, first);
}

/* Reads up to n bytes. Returns their number, or -errno. */
static ssize_t read_at(int fd, void *to, size_t n, uint64_t offset)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = pread(fd, (char *)to + done, n - done, (off_t)(offset + done));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		done += (size_t)r;
	}
	return (ssize_t)done;
}

static int write_at(int fd, const void *from, size_t n, uint64_t offset)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = pwrite(fd, (const char *)from + done, n - done, (off_t)(offset + done));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		done += (size_t)r;
	}
	return 0;
}

static int fail_file(const struct disk_queue *queue, const char *name, int code, struct err *err)
{
	return err_set(err, code, "%s/%s: %s", queue->path, name, strerror(code));
}

/* --- segments --- */

static int open_segment(const struct disk_queue *queue, uint64_t first, int flags, struct err *err)
{
	char name[SEGMENT_NAME_BYTES];

	segment_name(name, first);
	return trusted_open_file(queue->directory, name, flags, TRUSTED_PRIVATE, err);
}

static void remove_segment(const struct disk_queue *queue, uint64_t first)
{
	char name[SEGMENT_NAME_BYTES];

	segment_name(name, first);
	unlinkat(queue->directory, name, 0);
}

static void add_segment(struct disk_queue *queue, uint64_t first, uint64_t bytes)
{
	queue->segments =
		xgrow(queue->segments, &queue->cap, queue->count + 1, sizeof(*queue->segments));
	queue->segments[queue->count++] = (struct segment){ first, bytes };
	queue->status.bytes += bytes;
}

static void drop_newest(struct disk_queue *queue)
{
	struct segment *newest = &queue->segments[--queue->count];

	queue->status.bytes -= newest->bytes;
	remove_segment(queue, newest->first);
}

static void set_newest_bytes(struct disk_queue *queue, uint64_t bytes)
{
	struct segment *newest = &queue->segments[queue->count - 1];

	queue->status.bytes += bytes - newest->bytes;
	newest->bytes = bytes;
}

/* Removes segments whose frames were all released, except the newest. */
static void remove_released(struct disk_queue *queue)
{
	size_t gone = 0;

	while (gone + 1 < queue->count &&
	       queue->segments[gone + 1].first <= queue->status.released + 1) {
		queue->status.bytes -= queue->segments[gone].bytes;
		remove_segment(queue, queue->segments[gone].first);
		gone++;
	}
	if (!gone)
		return;
	queue->count -= gone;
	memmove(queue->segments, queue->segments + gone, queue->count * sizeof(*queue->segments));
}

/* Creates the segment of the next frame. */
static int create_segment(struct disk_queue *queue)
{
	struct segment_header header = { .magic = SEGMENT_MAGIC,
					 .version = SEGMENT_VERSION,
					 .first = queue->status.next };
	char name[SEGMENT_NAME_BYTES];
	int fd, r;

	memcpy(header.id, queue->id, ID_RAW);
	header.check = XXH3_64bits(&header, offsetof(struct segment_header, check));
	segment_name(name, header.first);
	fd = trusted_create_file(queue->directory, name, NULL);
	if (fd < 0)
		return fd;
	r = write_at(fd, &header, sizeof(header), 0);
	if (r < 0) {
		unlinkat(queue->directory, name, 0);
		close(fd);
		return r;
	}
	queue->fd = fd;
	queue->end = queue->durable_end = sizeof(header);
	queue->directory_dirty = true;
	pthread_mutex_lock(&queue->lock);
	add_segment(queue, header.first, sizeof(header));
	remove_released(queue);
	pthread_mutex_unlock(&queue->lock);
	return 0;
}

/* --- opening --- */

static int compare_segments(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static int list_segments(struct disk_queue *queue, struct err *err)
{
	int fd = openat(queue->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir)
		return fail_file(queue, "", errno, err);
	while ((entry = readdir(dir))) {
		char *end, name[SEGMENT_NAME_BYTES];
		uint64_t first = strtoull(entry->d_name, &end, 10);
		struct stat st;

		segment_name(name, first);
		if (first && first < SEQUENCE_MAX && strcmp(name, entry->d_name) == 0 &&
		    fstatat(queue->directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			add_segment(queue, first, (uint64_t)st.st_size);
	}
	closedir(dir);
	if (queue->count)
		qsort(queue->segments, queue->count, sizeof(*queue->segments), compare_segments);
	return 0;
}

/* Takes the id from the header of a segment. Returns 1 if it has a valid one, else 0. */
static int read_id(struct disk_queue *queue, uint64_t first, struct err *err)
{
	struct segment_header header;
	int fd = open_segment(queue, first, O_RDONLY, err);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read_at(fd, &header, sizeof(header), 0);
	close(fd);
	if (n < 0)
		return fail_file(queue, "", (int)-n, err);
	if (n != sizeof(header) || header.magic != SEGMENT_MAGIC ||
	    header.check != XXH3_64bits(&header, offsetof(struct segment_header, check)))
		return 0;
	if (header.version != SEGMENT_VERSION)
		return err_set(err, EPROTONOSUPPORT,
			       "%s: the queue has version %u, but this program reads version %u; "
			       "update Sluice",
			       queue->path, header.version, SEGMENT_VERSION);
	memcpy(queue->id, header.id, ID_RAW);
	return 1;
}

static int find_id(struct disk_queue *queue, struct err *err)
{
	int found = 0;

	for (size_t i = 0; i < queue->count && found == 0; i++)
		found = read_id(queue, queue->segments[i].first, err);
	if (found < 0)
		return found;
	if (!found && queue->count)
		return err_set(err, EBADMSG,
			       "%s: no segment of the queue has a valid header; move the files "
			       "elsewhere to start with an empty queue",
			       queue->path);
	if (!found && getrandom(queue->id, ID_RAW, 0) != ID_RAW)
		return err_set(err, EIO, "no random numbers for the id of the queue");
	for (int i = 0; i < ID_RAW; i++)
		snprintf(queue->id_text + i * 2, 3, "%02x", queue->id[i]);
	return 0;
}

/*
 * Can the frame at the offset of a segment have this sequence? There are at most as many frames
 * before it as headers fit there.
 */
static bool is_plausible(uint64_t first, uint64_t offset, uint64_t sequence)
{
	return sequence >= first && sequence - first <= offset / FRAME_HEADER_BYTES;
}

/*
 * Finds the next valid frame of a segment in the bytes that begin at its offset. Returns where it
 * is, or n; *sequence is the least sequence before, and that of the frame afterwards.
 */
static size_t search_frame(const uint8_t *bytes, size_t n, uint64_t first, uint64_t offset,
			   uint64_t *sequence)
{
	struct frame frame;
	size_t at = 0;

	while (at < n) {
		at += frame_search(bytes + at, n - at, *sequence);
		if (at < n &&
		    frame_decode(&frame, bytes + at, n - at, FRAME_PAYLOAD_MAX, NULL) > 0 &&
		    is_plausible(first, offset + at, frame.sequence)) {
			*sequence = frame.sequence;
			return at;
		}
		at += at < n;
	}
	return n;
}

/*
 * Finds the end of the frames in the bytes of the newest segment, and the sequence after the last
 * one. Damage that is followed by valid frames is left to the reader.
 */
static size_t scan_frames(const uint8_t *bytes, size_t n, uint64_t first, uint64_t *next)
{
	size_t at = size_min(n, sizeof(struct segment_header));

	*next = first;
	while (at < n) {
		struct frame frame;
		uint64_t sequence = *next;
		size_t more = search_frame(bytes + at, n - at, first, at, &sequence);

		if (more == n - at)
			break;
		at += more;
		at += (size_t)frame_decode(&frame, bytes + at, n - at, FRAME_PAYLOAD_MAX, NULL);
		*next = sequence + 1;
	}
	return at;
}

/* Closes the newest segment for writing; the next append creates another one. */
static void close_newest(struct disk_queue *queue)
{
	if (queue->fd >= 0)
		close(queue->fd);
	queue->fd = -1;
}

/*
 * Finds the next sequence, and removes what was written incompletely: a torn frame, or a segment
 * that was being created. Returns -errno.
 */
static int recover_newest(struct disk_queue *queue, struct err *err)
{
	const struct segment newest = queue->segments[queue->count - 1];
	AUTO_FREE uint8_t *bytes = NULL;
	int has_header = read_id(queue, newest.first, err);
	ssize_t n;
	size_t end;

	if (has_header < 0)
		return has_header;
	if (newest.bytes > SEGMENT_MAX)
		return err_set(err, EFBIG, "%s: a segment of the queue is too long; remove it",
			       queue->path);
	queue->fd = open_segment(queue, newest.first, O_RDWR, err);
	if (queue->fd < 0)
		return queue->fd;
	bytes = xmalloc(newest.bytes + 1);
	n = read_at(queue->fd, bytes, newest.bytes, 0);
	if (n < 0)
		return fail_file(queue, "", (int)-n, err);
	end = scan_frames(bytes, (size_t)n, newest.first, &queue->status.next);
	queue->status.torn_bytes = newest.bytes - end;
	/* The truncation needs no sync: a torn tail that returns is removed again. */
	if (end < newest.bytes && ftruncate(queue->fd, (off_t)end) != 0)
		return fail_file(queue, "", errno, err);
	set_newest_bytes(queue, end);
	queue->end = queue->durable_end = end;
	/* The frames may be in the page cache only, if the process was killed before its sync. */
	if (fdatasync(queue->fd) != 0 || fsync(queue->directory) != 0)
		return fail_file(queue, "", errno, err);
	if (!has_header) {
		close_newest(queue);
		if (end <= sizeof(struct segment_header))
			drop_newest(queue);
	}
	return 0;
}

static uint64_t released_check(const struct disk_queue *queue, uint64_t sequence)
{
	struct {
		uint64_t sequence;
		uint8_t id[ID_RAW];
	} checked = { .sequence = sequence };

	memcpy(checked.id, queue->id, ID_RAW);
	return XXH3_64bits(&checked, sizeof(checked));
}

static int open_released(struct disk_queue *queue, struct err *err)
{
	struct released_slot slots[2] = { 0 };
	ssize_t n;

	queue->released_fd =
		trusted_open_file(queue->directory, RELEASED_NAME, O_RDWR, TRUSTED_PRIVATE, NULL);
	if (queue->released_fd == -ENOENT)
		queue->released_fd = trusted_create_file(queue->directory, RELEASED_NAME, err);
	if (queue->released_fd < 0)
		return queue->released_fd;
	/* trusted_create_file() opens for writing only, but a new file has nothing to read. */
	n = read_at(queue->released_fd, slots, sizeof(slots), 0);
	for (int i = 0; i < 2 && n > 0; i++)
		if (slots[i].check == released_check(queue, slots[i].sequence))
			queue->status.released = u64_max(queue->status.released, slots[i].sequence);
	return 0;
}

static int open_files(struct disk_queue *queue, struct err *err)
{
	struct disk_queue_status *status = &queue->status;
	int r = list_segments(queue, err);

	if (r == 0 && queue->count)
		r = recover_newest(queue, err);
	if (r == 0)
		r = find_id(queue, err);
	if (r == 0)
		r = open_released(queue, err);
	if (r < 0)
		return r;
	if (queue->count)
		status->released = u64_max(status->released, queue->segments[0].first - 1);
	/* Numbers that the receiver knows are not used again, even if the frames are gone. */
	if (status->next <= status->released) {
		status->next = status->released + 1;
		close_newest(queue);
	}
	status->durable = status->next - 1;
	return 0;
}

int disk_queue_open(struct disk_queue **made, const struct disk_queue_options *options,
		    struct err *err)
{
	struct disk_queue *queue = xcalloc(1, sizeof(*queue));
	uint64_t segment = options->segment_bytes ?: DISK_QUEUE_SEGMENT_BYTES;
	int r;

	queue->path = xstrdup(options->directory);
	queue->bytes_max = options->bytes_max;
	queue->segment_bytes = u64_min(u64_min(segment, options->bytes_max / 4), SEGMENT_MAX / 2);
	queue->fd = queue->read_fd = queue->released_fd = -1;
	queue->status.next = 1;
	pthread_mutex_init(&queue->lock, NULL);
	queue->directory = trusted_make_directory(options->directory, err);
	r = queue->directory;
	if (r >= 0 && flock(queue->directory, LOCK_EX | LOCK_NB) != 0)
		r = err_set(err, EBUSY, "%s: another process has opened this queue",
			    options->directory);
	if (r >= 0)
		r = open_files(queue, err);
	if (r < 0) {
		disk_queue_close(queue);
		return r;
	}
	queue->base = (struct position){ .sequence = queue->status.released + 1 };
	queue->read = queue->base;
	*made = queue;
	return 0;
}

void disk_queue_close(struct disk_queue *queue)
{
	if (!queue)
		return;
	disk_queue_sync(queue);
	close_newest(queue);
	if (queue->read_fd >= 0)
		close(queue->read_fd);
	if (queue->released_fd >= 0)
		close(queue->released_fd);
	if (queue->directory >= 0)
		close(queue->directory);
	pthread_mutex_destroy(&queue->lock);
	free(queue->segments);
	free(queue->path);
	free(queue);
}

const char *disk_queue_id(const struct disk_queue *queue)
{
	return queue->id_text;
}

/* --- writing --- */

static void count_failure(struct disk_queue *queue, int r)
{
	pthread_mutex_lock(&queue->lock);
	if (r == -ENOSPC || r == -EDQUOT)
		queue->status.refused++;
	else
		queue->status.failures++;
	pthread_mutex_unlock(&queue->lock);
}

static int append_bytes(struct disk_queue *queue, const struct frame_header *header,
			const void *payload)
{
	int r = write_at(queue->fd, header, sizeof(*header), queue->end);

	if (r == 0)
		r = write_at(queue->fd, payload, header->length, queue->end + sizeof(*header));
	/* If the truncation fails, the next append overwrites the rest. */
	if (r < 0 && ftruncate(queue->fd, (off_t)queue->end) != 0)
		return r;
	return r;
}

static int make_room(struct disk_queue *queue, size_t bytes)
{
	bool is_full;
	int r;

	pthread_mutex_lock(&queue->lock);
	is_full = queue->status.bytes + bytes + sizeof(struct segment_header) > queue->bytes_max;
	pthread_mutex_unlock(&queue->lock);
	if (is_full)
		return -ENOSPC;
	if (queue->fd >= 0 && queue->end > sizeof(struct segment_header) &&
	    queue->end + bytes > queue->segment_bytes) {
		r = disk_queue_sync(queue);
		if (r < 0)
			return r;
		close_newest(queue);
	}
	return queue->fd < 0 ? create_segment(queue) : 0;
}

int disk_queue_append(struct disk_queue *queue, uint16_t type, const void *payload, size_t n,
		      uint64_t *sequence)
{
	struct frame_header header;
	size_t bytes = FRAME_HEADER_BYTES + n;
	int r = n > FRAME_PAYLOAD_MAX || !frame_type_name(type) ? -EMSGSIZE : 0;

	if (r == 0)
		r = make_room(queue, bytes);
	if (r == 0) {
		frame_seal(&header, type, queue->status.next, payload, (uint32_t)n);
		r = append_bytes(queue, &header, payload);
	}
	if (r < 0) {
		count_failure(queue, r);
		return r == -EDQUOT ? -ENOSPC : r;
	}
	queue->end += bytes;
	pthread_mutex_lock(&queue->lock);
	queue->status.next++;
	set_newest_bytes(queue, queue->end);
	pthread_mutex_unlock(&queue->lock);
	if (sequence)
		*sequence = header.sequence;
	return 0;
}

/*
 * After a failed sync, the kernel may have dropped what was written. The segment is cut to what is
 * durable, and a new one follows, whose name makes frames void that the cut did not remove.
 */
static void undo_appends(struct disk_queue *queue)
{
	int r = ftruncate(queue->fd, (off_t)queue->durable_end);

	close_newest(queue);
	pthread_mutex_lock(&queue->lock);
	if (r < 0)
		queue->status.failures++;
	queue->status.next = queue->status.durable + 1;
	if (queue->durable_end > sizeof(struct segment_header))
		set_newest_bytes(queue, queue->durable_end);
	else
		drop_newest(queue);
	pthread_mutex_unlock(&queue->lock);
}

int disk_queue_sync(struct disk_queue *queue)
{
	int r = 0;

	if (queue->fd < 0 || queue->status.durable + 1 == queue->status.next)
		return 0;
	if (fdatasync(queue->fd) != 0)
		r = -errno;
	if (r == 0 && queue->directory_dirty && fsync(queue->directory) != 0)
		r = -errno;
	if (r < 0) {
		count_failure(queue, r);
		undo_appends(queue);
		return r;
	}
	queue->directory_dirty = false;
	queue->durable_end = queue->end;
	pthread_mutex_lock(&queue->lock);
	queue->status.durable = queue->status.next - 1;
	pthread_mutex_unlock(&queue->lock);
	return 0;
}

/* --- reading --- */

/* What the reader needs to know of the segment of its next frame. */
struct view {
	struct segment segment;
	uint64_t until; /* first sequence that is not in this segment, or not durable */
};

/* False: the frame does not exist yet. */
static bool find_segment(struct disk_queue *queue, uint64_t sequence, struct view *view)
{
	bool found = false;

	pthread_mutex_lock(&queue->lock);
	if (queue->count && sequence <= queue->status.durable) {
		size_t i = queue->count;

		while (i > 1 && queue->segments[i - 1].first > sequence)
			i--;
		view->segment = queue->segments[i - 1];
		view->until =
			i < queue->count ? queue->segments[i].first : queue->status.durable + 1;
		found = true;
	}
	pthread_mutex_unlock(&queue->lock);
	return found;
}

static int open_for_reading(struct disk_queue *queue, uint64_t first, struct err *err)
{
	if (queue->read_fd >= 0 && queue->read_segment == first)
		return 0;
	if (queue->read_fd >= 0)
		close(queue->read_fd);
	queue->read_segment = first;
	queue->read_fd = open_segment(queue, first, O_RDONLY, err);
	return queue->read_fd < 0 ? queue->read_fd : 0;
}

/* Reads and decodes what is at the position. Returns the size of the frame; 0 if it is damaged. */
static int read_frame(struct disk_queue *queue, struct buf *bytes, struct frame *frame,
		      struct err *err)
{
	size_t need = FRAME_HEADER_BYTES;
	ssize_t n = 0;
	int r;

	buf_clear(bytes);
	for (;;) {
		buf_reserve(bytes, need);
		n = read_at(queue->read_fd, bytes->data + bytes->len, need - bytes->len,
			    queue->read.offset + bytes->len);
		if (n < 0)
			return fail_file(queue, "", (int)-n, err);
		if (n == 0)
			return 0;
		bytes->len += (size_t)n;
		r = frame_decode(frame, bytes->data, bytes->len, FRAME_PAYLOAD_MAX, &need);
		if (r)
			return r < 0 ? 0 : r;
	}
}

/* The frames from the position up to `next` are gone. */
static void count_lost(struct disk_queue *queue, uint64_t next)
{
	pthread_mutex_lock(&queue->lock);
	queue->status.lost += next - queue->read.sequence;
	pthread_mutex_unlock(&queue->lock);
	queue->read.sequence = next;
}

/* Moves the position behind damage: to the next valid frame, or to the end of the segment. */
static int skip_damage(struct disk_queue *queue, const struct view *view, struct buf *bytes,
		       struct err *err)
{
	uint64_t from = queue->read.offset + 1, end = u64_min(view->segment.bytes, SEGMENT_MAX);
	size_t left = end > from ? end - from : 0, at;
	uint64_t next = queue->read.sequence;
	ssize_t n;

	buf_clear(bytes);
	buf_reserve(bytes, left + 1);
	n = read_at(queue->read_fd, bytes->data, left, from);
	if (n < 0)
		return fail_file(queue, "", (int)-n, err);
	at = search_frame((const uint8_t *)bytes->data, (size_t)n, view->segment.first, from, &next);
	next = at < (size_t)n ? u64_min(next, view->until) : view->until;
	count_lost(queue, next);
	queue->read.offset = from + at;
	return 0;
}

/* Reads the frame at the position. Returns 1, 0 if there was none that is still needed, -errno. */
static int read_next(struct disk_queue *queue, const struct view *view, struct buf *bytes,
		     struct frame *frame, struct err *err)
{
	int r = open_for_reading(queue, view->segment.first, err);

	if (r == 0)
		r = read_frame(queue, bytes, frame, err);
	if (r < 0)
		return r;
	if (r == 0 || !is_plausible(view->segment.first, queue->read.offset, frame->sequence))
		return skip_damage(queue, view, bytes, err);
	if (frame->sequence > queue->read.sequence)
		count_lost(queue, u64_min(frame->sequence, view->until));
	if (frame->sequence >= view->until)
		return 0;
	queue->read.offset += (uint64_t)r;
	if (frame->sequence < queue->read.sequence)
		return 0;
	queue->read.sequence++;
	frame->stream = queue->id_text;
	return 1;
}

int disk_queue_read(struct disk_queue *queue, struct buf *bytes, struct frame *frame,
		    struct err *err)
{
	struct view view;
	int r = 0;

	while (r == 0 && find_segment(queue, queue->read.sequence, &view)) {
		if (queue->read.segment != view.segment.first) {
			queue->read.segment = view.segment.first;
			queue->read.offset = sizeof(struct segment_header);
			queue->read.sequence = u64_max(queue->read.sequence, view.segment.first);
		}
		r = read_next(queue, &view, bytes, frame, err);
	}
	return r;
}

void disk_queue_rewind(struct disk_queue *queue)
{
	queue->read = queue->base;
}

int disk_queue_release(struct disk_queue *queue, uint64_t sequence)
{
	struct released_slot slot = { sequence, released_check(queue, sequence) };
	bool is_new;

	pthread_mutex_lock(&queue->lock);
	is_new = sequence > queue->status.released && sequence <= queue->status.durable;
	if (is_new) {
		queue->status.released = sequence;
		remove_released(queue);
	}
	pthread_mutex_unlock(&queue->lock);
	if (!is_new)
		return sequence <= queue->status.released ? 0 : -EINVAL;
	if (queue->read.sequence == sequence + 1)
		queue->base = queue->read;
	else
		queue->base.sequence = sequence + 1;
	return write_at(queue->released_fd, &slot, sizeof(slot),
			(uint64_t)(queue->slot++ % 2) * sizeof(slot));
}

struct disk_queue_status disk_queue_status(struct disk_queue *queue)
{
	struct disk_queue_status status;

	pthread_mutex_lock(&queue->lock);
	status = queue->status;
	pthread_mutex_unlock(&queue->lock);
	return status;
}
