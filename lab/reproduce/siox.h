/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reproduces the experiments of the SIOX paper (Kunkel et al., 2014) on this machine. Each
 * experiment runs programs without and with recording, adds its sheets to the output, draws its
 * charts, and judges its acceptance checks.
 *
 * The output of each run is a file in the directory of results, whose name is the key of the run. A
 * run whose file exists is not repeated, so a reproduction that was interrupted can be continued.
 */
#ifndef SLUICE_LAB_REPRODUCE_SIOX_H
#define SLUICE_LAB_REPRODUCE_SIOX_H

#include "base/launcher.h"
#include "base/term.h"
#include "lab/reproduce/reproduce.h"

#define SIOX_REPEAT_MAX 100

struct siox_args {
	const char *plots, *dir, *results; /* NULL: none, the current one, a temporary one */
	uint64_t repeat, seconds, blocks;
	int mpi;
	bool quick, full, json;
};

/* Sizes of the experiments. */
struct siox_scale {
	uint64_t repeat;	/* runs of each program; they are interleaved */
	uint64_t calls;		/* Figure 8: per thread */
	uint64_t threads_max;	/* Figure 8 */
	uint64_t ranks, blocks; /* Figures 7 and 9: blocks of 100 KiB per rank */
	double seconds;		/* application: CPU time of a rank */
	uint64_t strides[2];	/* Table 1: blocks with strides of 20 KiB and of 1000 KiB */
};

#define SIOX_CHECKS 8

/* A judged acceptance check; the texts are constants or owned by the struct siox. */
struct siox_check {
	const char *id, *bound;
	char *value;
	bool holds;
};

struct siox {
	const struct siox_args *args;
	struct siox_scale scale;
	struct reproduce_output output;
	struct progress progress;
	char *sluice, *lab;	/* paths of the programs */
	char *levels, *climate; /* paths of the MPI programs; NULL: not built */
	char *levels_linked, *climate_linked;
	char *mpiexec; /* NULL: none */
	char *work;    /* temporary directory of data and traces */
	char *results; /* directory of the outputs of runs */
	struct siox_check checks[SIOX_CHECKS];
	size_t check_count;
};

/* Were the programs built for an MPI that has a launcher? If not, the sheets say so. */
bool siox_has_mpi(const struct siox *siox);
void siox_note_mpi(const struct siox *siox, struct sheet *sheet);

/* ---- runs (siox_runs.c) ---- */

#define SIOX_WORDS 40

/* A command that is being put together. */
struct siox_command {
	const char *words[SIOX_WORDS + 1];
	size_t count;
};

void siox_add(struct siox_command *command, const char *word);
/* The words up to NULL. */
void siox_add_all(struct siox_command *command, const char *const *words);
/*
 * `sluice run` with these settings, such as "plugins.load="; NULL-terminated, or NULL for none. The
 * trace is removed after the run.
 */
void siox_add_sluice(const struct siox *siox, struct siox_command *command, bool linked,
		     const char *const *choices);
/* `sluice run` that writes the trace to a file which stays. */
void siox_add_sluice_to(const struct siox *siox, struct siox_command *command, const char *trace);
/* mpiexec -n ranks; `ranks` is a text that outlives the command. */
void siox_add_ranks(const struct siox *siox, struct siox_command *command, const char *ranks);

/*
 * Runs the command, unless its result exists, and returns what it printed, followed by a line
 * "wall_s=X cpu_s=Y" with the elapsed time and the CPU time of all its processes. NULL with a
 * message on failure. The caller frees it.
 */
char *siox_run(struct siox *siox, const char *key, const struct siox_command *command,
	       struct err *err);

/* The path of a file among the results, or of one in the working directory. The caller frees it. */
char *siox_result_path(const struct siox *siox, const char *key);
char *siox_work_path(const struct siox *siox, const char *name);

/*
 * The number after "NAME=" or "NAME " in the first line that contains `line` ("": in the first line
 * that has one); NAN if there is none.
 */
double siox_number(const char *output, const char *line, const char *name);

/* Repeated measurements of one quantity. */
struct siox_sample {
	double values[SIOX_REPEAT_MAX];
	size_t count;
};

void siox_sample_add(struct siox_sample *sample, double value);
/* NAN for an empty sample. */
double siox_sample_median(const struct siox_sample *sample);
double siox_sample_least(const struct siox_sample *sample);

/* Takes ownership of `value`. */
void siox_check_add(struct siox *siox, const char *id, bool holds, const char *bound, char *value);

/* ---- experiments: each adds its sheets and charts ---- */

int siox_table1(struct siox *siox, struct err *err);	  /* siox_reads.c */
int siox_figure7(struct siox *siox, struct err *err);	  /* siox_survey.c */
int siox_figure8(struct siox *siox, struct err *err);	  /* siox_threads.c */
int siox_figure9(struct siox *siox, struct err *err);	  /* siox_levels.c */
int siox_application(struct siox *siox, struct err *err); /* siox_application.c */

struct chart;
/* Writes PLOTS/siox-NAME.svg, if charts are wanted, and releases the chart. */
int siox_save_chart(const struct siox *siox, struct chart *chart, const char *name,
		    struct err *err);

#endif
