/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/program/launch.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/unit.h"
#include "contract/program.h"

enum starter_kind {
	LAUNCHES,   /* starts many copies of a program */
	WRAPS,	    /* starts one program */
	INTERPRETS, /* runs a script */
};

/*
 * A command that starts the program that follows its own options. Lists of options are written
 * without dashes and with a blank around each name.
 */
struct starter {
	const char *name; /* base name; fnmatch() pattern */
	enum starter_kind kind;
	const char *one, *two;	 /* options that take one and two words */
	const char *ranks;	 /* those of `one` that set the number of copies */
	const char *groups, *in; /* or the number of groups, and of copies in each */
	const char *variable;	 /* environment variable for the copies, if no option is given */
	const char *flags;	 /* options without a value of their own word; may be incomplete */
	const char *attached;	 /* short ones of them that may have a value in the same word */
	const char *replacing;	 /* options by which the next word is not a plain program */
	const char *ends;	 /* options of an interpreter that replace the script */
	const char *verb;	 /* the word that must come first, "run" */
	unsigned operands;	 /* words of its own before the program */
	bool joined;		 /* -n4 means -n 4 */
	bool assigns;		 /* NAME=VALUE may come before the program */
	bool segments;		 /* ":" starts another program */
};

#define MPIEXEC_ONE                                                                                \
	" n np c host hosts H f machinefile hostfile machine default-hostfile configfile wdir wd " \
	"path x ppn perhost bind-to bind map-by rank-by iface launcher launcher-exec bootstrap "   \
	"bootstrap-exec rmk gpus-per-proc topolib demux outfile-pattern errfile-pattern envlist "  \
	"genvlist prefix am tune npernode npersocket N rf rankfile output-filename output "        \
	"report-uri stdin timeout personality ess-args app "

#define MPIEXEC(pattern)                                                           \
	{                                                                          \
		.name = pattern, .kind = LAUNCHES, .one = MPIEXEC_ONE,             \
		.two = " env genv mca gmca pmixmca prtemca ", .ranks = " n np c ", \
		.segments = true                                                   \
	}

#define INTERPRETER(pattern, options, replacing) \
	{ .name = pattern, .kind = INTERPRETS, .one = options, .ends = replacing },

/* Options that srun and salloc have in common, of Slurm 22.05 to 24.11. */
#define SLURM_ONE                                                                                 \
	" n ntasks N nodes c cpus-per-task p partition A account t time J job-name w nodelist x " \
	"exclude m distribution D chdir ntasks-per-node ntasks-per-core ntasks-per-socket "       \
	"ntasks-per-gpu mem mem-per-cpu mem-per-gpu gres gpus G gpus-per-task gpus-per-node "     \
	"gpus-per-socket gpu-bind gpu-freq cpus-per-gpu C constraint q qos reservation hint L "   \
	"licenses threads-per-core sockets-per-node cores-per-socket d dependency M clusters B "  \
	"extra-node-info F nodefile b begin bb bbf comment cpu-freq deadline delay-boot "         \
	"gres-flags mail-type mail-user mcs-label power prefer priority profile S core-spec "     \
	"signal switches thread-spec time-min wckey acctg-freq cluster-constraint mincpus tmp "   \
	"uid gid oom-kill-step "
#define SLURM_FLAGS                                                                       \
	" H hold I immediate k no-kill nice O overcommit Q quiet reboot s oversubscribe " \
	"spread-job use-min-nodes v verbose contiguous exclusive h help usage V version "

static const struct starter starters[] = {
	MPIEXEC("mpiexec*"),
	MPIEXEC("mpirun*"),
	MPIEXEC("orterun"),
	MPIEXEC("prterun"),
	{ .name = "srun",
	  .kind = LAUNCHES,
	  .one = SLURM_ONE "o output e error i input mpi export het-group r relative W wait T "
			   "threads epilog prolog jobid slurmd-debug task-epilog task-prolog "
			   "cpu-bind mem-bind accel-bind bcast-exclude network tres-bind "
			   "tres-per-task container container-id environment ",
	  .flags = SLURM_FLAGS "E preserve-env l label Z no-allocate u unbuffered X "
			       "disable-status pty quit-on-interrupt send-libs compress exact "
			       "resv-ports overlap propagate K kill-on-bad-exit external ",
	  .attached = " I K ",
	  .replacing = " bcast multi-prog container container-id ",
	  .ranks = " n ntasks ",
	  .groups = " N nodes ",
	  .in = " ntasks-per-node ",
	  .variable = "SLURM_NTASKS",
	  .joined = true },
	{ .name = "salloc",
	  .kind = WRAPS,
	  .one = SLURM_ONE "container ",
	  .flags = SLURM_FLAGS "bell no-bell K kill-command get-user-env no-shell x11 ",
	  .attached = " I K ",
	  .joined = true },
	{ .name = "aprun",
	  .kind = LAUNCHES,
	  .one = " n N d S m cc e L l p r j a sn sl E ",
	  .ranks = " n ",
	  .joined = true,
	  .segments = true },
	{ .name = "jsrun",
	  .kind = LAUNCHES,
	  .one = " n nrs a tasks_per_rs p np c cpu_per_rs g gpu_per_rs r rs_per_host b bind d "
		 "launch_distribution l latency_priority E env M smpiargs o stdio_stdout k "
		 "stdio_stderr h chdir ",
	  .ranks = " p np ",
	  .groups = " n nrs ",
	  .in = " a tasks_per_rs ",
	  .joined = true },
	{ .name = "sluice",
	  .kind = WRAPS,
	  .one = " o output f format m mode spool-dir spool-limit p params param t tune place set ",
	  .verb = "run" },
	{ .name = "env", .kind = WRAPS, .one = " u unset C chdir ", .assigns = true },
	{ .name = "time", .kind = WRAPS, .one = " f format o output " },
	{ .name = "nice", .kind = WRAPS, .one = " n adjustment " },
	{ .name = "ionice", .kind = WRAPS, .one = " c n class classdata ", .joined = true },
	{ .name = "chrt", .kind = WRAPS, .one = " T P D ", .operands = 1 },
	{ .name = "taskset", .kind = WRAPS, .operands = 1 },
	{ .name = "timeout",
	  .kind = WRAPS,
	  .one = " k s kill-after signal ",
	  .operands = 1,
	  .joined = true },
	{ .name = "stdbuf", .kind = WRAPS, .one = " i o e input output error ", .joined = true },
	{ .name = "numactl",
	  .kind = WRAPS,
	  .one = " m N i C p membind cpunodebind interleave physcpubind preferred ",
	  .joined = true },
	{ .name = "strace", .kind = WRAPS, .one = " o e s E a O S u P I b X U ", .joined = true },
	{ .name = "valgrind", .kind = WRAPS },
	{ .name = "nohup", .kind = WRAPS },
	{ .name = "setsid", .kind = WRAPS },
	PROGRAM_INTERPRETERS(INTERPRETER){
		.name = "*sh", .kind = INTERPRETS, .one = " o O ", .ends = " c s " },
};

/* The words that are not parsed yet. */
struct words {
	char *const *at;
	size_t count;
};

static void skip_words(struct words *words, size_t n)
{
	n = n < words->count ? n : words->count;
	words->at += n;
	words->count -= n;
}

bool launch_is_shell(const char *program)
{
	static const char *const shells[] = { "sh", "bash", "dash", "ksh", "zsh", "csh", "tcsh" };

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(path_base_name(program), shells[i]) == 0)
			return true;
	return false;
}

static const struct starter *find_starter(const char *word)
{
	const char *base = path_base_name(word);

	for (size_t i = 0; i < sizeof(starters) / sizeof(starters[0]); i++) {
		if (fnmatch(starters[i].name, base, 0) != 0)
			continue;
		/* A program whose name merely ends in "sh" is not a shell. */
		if (strcmp(starters[i].name, "*sh") == 0 && !launch_is_shell(base))
			return NULL;
		return &starters[i];
	}
	return NULL;
}

/* Is " name " one of the words of the list? */
static bool is_listed(const char *list, const char *name, size_t n)
{
	for (const char *at = list; at && n && (at = strstr(at, " ")) && at[1]; at++)
		if (strncmp(at + 1, name, n) == 0 && at[1 + n] == ' ')
			return true;
	return false;
}

struct counts {
	uint64_t ranks, groups, in; /* 0: not given */
};

static void set_count(const struct starter *starter, const char *name, size_t n, const char *value,
		      struct counts *counts)
{
	uint64_t number = 0;

	if (!value || unit_parse_count(value, &number) < 0 || number > UINT32_MAX)
		return;
	if (is_listed(starter->ranks, name, n))
		counts->ranks = number;
	else if (is_listed(starter->groups, name, n))
		counts->groups = number;
	else if (is_listed(starter->in, name, n))
		counts->in = number;
}

/* Is the word after an unknown option of a launcher its value, and not the program? */
static bool looks_like_value(const char *word)
{
	AUTO_FREE char *program = NULL;

	if (word[0] == '-' || strchr(word, '/') || find_starter(word))
		return false;
	program = place_program(word);
	return !program;
}

/* Parses the option at the front. Returns the number of its words. */
static size_t parse_option(const struct starter *starter, const struct words *words,
			   struct counts *counts)
{
	const char *word = words->at[0], *name = word + 1 + (word[1] == '-');
	const char *next = words->count > 1 ? words->at[1] : NULL;
	size_t n = strcspn(name, "=");

	if (name[n] == '=') {
		set_count(starter, name, n, name + n + 1, counts);
		return 1;
	}
	/* MPICH's -genv takes NAME=VALUE as well as NAME VALUE. */
	if (is_listed(starter->two, name, n))
		return next && strchr(next, '=') ? 2 : 3;
	if (is_listed(starter->one, name, n)) {
		set_count(starter, name, n, next, counts);
		return 2;
	}
	if (starter->joined && word[1] != '-' && is_listed(starter->one, name, 1)) {
		set_count(starter, name, 1, name + 1, counts);
		return 1;
	}
	if (starter->kind == LAUNCHES && words->count > 2 && looks_like_value(next))
		return 2;
	return 1;
}

/* Python's -m runs a module as the program; that of mpi4py runs a script. */
static bool is_python_module(const struct starter *starter, const struct words *words)
{
	return starter->kind == INTERPRETS && strcmp(words->at[0], "-m") == 0 &&
	       strncmp(starter->name, "python", 6) == 0 && words->count > 1;
}

/*
 * Skips the options of the starter. False: no program follows, so the starter is the program.
 */
static bool skip_options(const struct starter *starter, struct words *words, struct counts *counts)
{
	while (words->count) {
		const char *word = words->at[0];

		if (strcmp(word, "--") == 0) {
			skip_words(words, 1);
			break;
		}
		if (is_python_module(starter, words)) {
			if (strncmp(words->at[1], "mpi4py", 6) != 0)
				return false;
			skip_words(words, 2);
		} else if (word[0] == '-' && word[1]) {
			if (is_listed(starter->ends, word + 1, strlen(word + 1)))
				return false;
			skip_words(words, parse_option(starter, words, counts));
		} else if (starter->assigns && strchr(word, '=')) {
			skip_words(words, 1);
		} else {
			break;
		}
	}
	skip_words(words, starter->operands);
	return words->count > 0;
}

static uint64_t total_ranks(const struct starter *starter, const struct counts *counts)
{
	const char *text = starter->variable ? getenv(starter->variable) : NULL;
	uint64_t number = 0;

	if (counts->ranks)
		return counts->ranks;
	if (counts->groups)
		return counts->groups * (counts->in ? counts->in : 1);
	return text && unit_parse_count(text, &number) >= 0 ? number : 0;
}

/* The words up to the ":" that starts another program. */
static struct words first_segment(const struct words *words)
{
	struct words first = { words->at, 0 };

	while (first.count < words->count && strcmp(words->at[first.count], ":") != 0)
		first.count++;
	return first;
}

/*
 * Sums the ranks of all segments. Moves words from the options of the first segment to its program.
 * False: there is no program.
 */
static bool parse_segments(const struct starter *starter, struct words *words, uint64_t *ranks)
{
	struct words rest = *words, program = { 0 };
	bool known = true;

	*ranks = 0;
	while (rest.count) {
		struct words segment = starter->segments ? first_segment(&rest) : rest;
		size_t all = segment.count;
		struct counts counts = { 0 };
		uint64_t own;

		if (skip_options(starter, &segment, &counts) && !program.count)
			program = segment;
		own = total_ranks(starter, &counts);
		known = known && own;
		*ranks += own;
		skip_words(&rest, all + 1);
	}
	if (!known || *ranks > UINT32_MAX)
		*ranks = 0;
	*words = program;
	return program.count > 0;
}

/* Moves words to the program that the starter at the front starts. False: the starter is the
 * program. */
static bool enter_starter(const struct starter *starter, struct words *words, struct launch *launch)
{
	struct words rest = { words->at + 1, words->count - 1 };
	struct counts counts = { 0 };
	uint64_t ranks;

	if (starter->verb && (!rest.count || strcmp(rest.at[0], starter->verb) != 0))
		return false;
	skip_words(&rest, starter->verb != NULL);
	if (starter->kind == LAUNCHES) {
		launch->launcher = path_base_name(words->at[0]);
		if (!parse_segments(starter, &rest, &ranks)) {
			launch->ranks = 0;
			return false;
		}
		launch->ranks = (uint32_t)ranks;
	} else if (!skip_options(starter, &rest, &counts)) {
		return false;
	}
	*words = rest;
	return true;
}

/* `sluice lab kernel` replaces itself by a launcher with this many ranks. */
#define KERNEL_RANKS 4

/* The words after `sluice lab kernel`; none if it is another command. */
static struct words kernel_words(const struct words *words)
{
	static const char *const verbs[] = { "lab", "kernel" };
	struct words rest = *words;

	if (!rest.count || strcmp(path_base_name(rest.at[0]), "sluice") != 0)
		return (struct words){ 0 };
	skip_words(&rest, 1);
	for (size_t i = 0; i < 2; i++) {
		if (!rest.count || strcmp(rest.at[0], verbs[i]) != 0)
			return (struct words){ 0 };
		skip_words(&rest, 1);
	}
	return rest;
}

/* Its long options may also come after the name of the kernel, its short ones are the kernel's. */
static void parse_kernel(struct words rest, struct launch *launch)
{
	static const struct starter before = { .one = " n ranks mpi ", .ranks = " n ranks " };
	static const struct starter after = { .one = " ranks mpi ", .ranks = " ranks " };
	struct counts counts = { 0 };
	const char *name = NULL;

	while (rest.count) {
		if (rest.at[0][0] == '-') {
			skip_words(&rest, parse_option(name ? &after : &before, &rest, &counts));
			continue;
		}
		name = name ? name : rest.at[0];
		skip_words(&rest, 1);
	}
	if (!name)
		return;
	launch->name = name;
	if (!launch->launcher)
		launch->ranks = counts.ranks ? (uint32_t)counts.ranks : KERNEL_RANKS;
}

void launch_parse(struct launch *launch, char *const *argv)
{
	struct words words = { argv, 0 };
	const struct starter *starter;

	*launch = (struct launch){ .ranks = 1 };
	while (argv[words.count])
		words.count++;
	while (words.count && (starter = find_starter(words.at[0]))) {
		const char *name = words.at[0];
		bool shell = starter->kind == INTERPRETS && launch_is_shell(name);

		if (shell && !launch->launcher)
			launch->ranks = 0;
		if (!enter_starter(starter, &words, launch))
			break;
		if (starter->kind == INTERPRETS) {
			launch->interpreter = name;
			break;
		}
	}
	launch->argv = words.at;
	launch->argc = words.count;
	launch->name = words.count ? path_base_name(words.at[0]) : "";
	parse_kernel(kernel_words(&words), launch);
}

/*
 * The words of the option at the front, if its meaning is certain; 0 if it is not, or if the option
 * changes what the next word is.
 */
static size_t measure_option(const struct starter *starter, const struct words *words)
{
	const char *word = words->at[0], *name = word + 2;
	size_t n = word[1] == '-' ? strcspn(name, "=") : 0;

	for (const char *letter = word + 1; !n && *letter; letter++) {
		if (is_listed(starter->one, letter, 1))
			return letter[1] ? 1 : 2;
		if (is_listed(starter->attached, letter, 1))
			return 1;
		if (!is_listed(starter->flags, letter, 1))
			return 0;
	}
	if (is_listed(starter->replacing, name, n))
		return 0;
	if (!n || name[n] == '=' || is_listed(starter->flags, name, n))
		return 1;
	return is_listed(starter->one, name, n) ? 2 : 0;
}

/* Moves words to the command behind the options of the starter. False: where it begins is unclear.
 */
static bool skip_known_options(const struct starter *starter, struct words *words)
{
	while (words->count && words->at[0][0] == '-' && words->at[0][1]) {
		size_t n;

		if (strcmp(words->at[0], "--") == 0) {
			skip_words(words, 1);
			break;
		}
		n = measure_option(starter, words);
		if (!n)
			return false;
		skip_words(words, n);
	}
	/* In Slurm, a colon begins another component of a job, with options of its own. */
	for (size_t i = 0; i < words->count; i++)
		if (strcmp(words->at[i], ":") == 0)
			return false;
	return true;
}

void launch_find_step(struct launch_step *step, char *const *argv)
{
	struct words words = { argv, 0 };
	const struct starter *starter = NULL;
	struct launch unused = { 0 };

	*step = (struct launch_step){ 0 };
	while (argv[words.count])
		words.count++;
	while (words.count && (starter = find_starter(words.at[0])) && starter->kind == WRAPS)
		if (!enter_starter(starter, &words, &unused))
			return;
	if (!words.count)
		return;
	if (strcmp(path_base_name(words.at[0]), "sbatch") == 0) {
		step->command = "sbatch";
		return;
	}
	if (!starter || strcmp(starter->name, "srun") != 0)
		return;
	skip_words(&words, 1);
	if (!skip_known_options(starter, &words)) {
		step->command = starter->name;
	} else if (words.count) {
		step->command = starter->name;
		step->at = (size_t)(words.at - argv);
	}
}
