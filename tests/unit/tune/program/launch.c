/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/program/launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "check.h"

#define WORDS_MAX 64

/* The words of a line that are separated by one blank, until the next call. */
static char **split(const char *line)
{
	static char text[2048];
	static char *argv[WORDS_MAX];
	char *rest = NULL;
	size_t n = 0;

	snprintf(text, sizeof(text), "%s", line);
	for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
		REQUIRE(n + 1 < WORDS_MAX);
		argv[n++] = w;
	}
	argv[n] = NULL;
	return argv;
}

/* Parses a line. *own gets the words of the program. */
static struct launch parse(const char *line, struct buf *own)
{
	struct launch launch;

	launch_parse(&launch, split(line));
	buf_clear(own);
	for (size_t i = 0; i < launch.argc; i++)
		buf_printf(own, "%s%s", i ? " " : "", launch.argv[i]);
	return launch;
}

static void check_line(const char *line, const char *program, const char *launcher, unsigned ranks)
{
	AUTO_BUF struct buf own = { 0 };
	struct launch launch = parse(line, &own);

	if (strcmp(buf_text(&own), program) != 0 || launch.ranks != ranks ||
	    (launch.launcher ? !launcher || strcmp(launcher, launch.launcher) != 0 : !!launcher)) {
		printf("%s\n\tis \"%s\" by %s with %u\n", line, buf_text(&own),
		       launch.launcher ? launch.launcher : "nobody", launch.ranks);
		check_failures++;
	}
}

static void a_plain_program_has_one_rank(void)
{
	check_line("./app", "./app", NULL, 1);
	check_line("./app -n 4 : x", "./app -n 4 : x", NULL, 1);
	check_line("", "", NULL, 1);
}

static void mpich_launchers_are_parsed(void)
{
	check_line("mpiexec -n 4 ./app a -b", "./app a -b", "mpiexec", 4);
	check_line("/usr/bin/mpiexec.mpich -np 8 -ppn 4 ./app", "./app", "mpiexec.mpich", 8);
	check_line("mpirun -n 4 -hosts a,b -f file ./app", "./app", "mpirun", 4);
	check_line("mpiexec -genv A 1 -genvlist X,Y -env B 2 -n 2 ./app", "./app", "mpiexec", 2);
	check_line("mpiexec -genv A=1 -n 2 ./app", "./app", "mpiexec", 2);
	check_line("mpiexec -iface eth0 -bind-to core -map-by hwthread -l -n 3 ./app", "./app",
		   "mpiexec", 3);
	check_line("mpiexec.hydra -envall -wdir /tmp -launcher ssh -n 3 ./app x", "./app x",
		   "mpiexec.hydra", 3);
}

static void open_mpi_launchers_are_parsed(void)
{
	check_line("mpirun --n 4 --mca io romio321 ./app", "./app", "mpirun", 4);
	check_line("mpirun -c 6 -x PATH -x A=B --bind-to none ./app -x 3", "./app -x 3", "mpirun",
		   6);
	check_line("mpiexec.openmpi --oversubscribe --allow-run-as-root -np 2 ./app", "./app",
		   "mpiexec.openmpi", 2);
	check_line("mpirun -H a:4,b:4 --hostfile f --map-by ppr:2:node -np 2 ./app", "./app",
		   "mpirun", 2);
	check_line("prterun --np 5 --prtemca a b ./app", "./app", "prterun", 5);
	check_line("mpirun --report-bindings ./app", "./app", "mpirun", 0);
}

static void an_unknown_option_has_a_value_unless_a_program_follows(void)
{
	check_line("mpiexec -n 2 -shiny thing ./app x", "./app x", "mpiexec", 2);
	check_line("mpiexec -n 2 -shiny sh run.sh", "run.sh", "mpiexec", 2);
	check_line("mpiexec -n 2 -shiny ./app x", "./app x", "mpiexec", 2);
	check_line("mpiexec -n 2 --shiny=thing ./app x", "./app x", "mpiexec", 2);
}

static void ranks_of_several_programs_add_up(void)
{
	check_line("mpiexec -n 2 ./a x : -n 3 ./b y : -np 1 ./c", "./a x", "mpiexec", 6);
	check_line("mpiexec -n 2 ./a x : ./b y", "./a x", "mpiexec", 0);
	check_line("mpiexec -n 2 env A=B ./a : -n 3 ./b", "./a", "mpiexec", 5);
	check_line("aprun -n 4 ./a : -n 8 ./b", "./a", "aprun", 12);
}

static void slurm_and_other_launchers_are_parsed(void)
{
	unsetenv("SLURM_NTASKS");
	check_line("srun -n 16 ./app", "./app", "srun", 16);
	check_line("srun -n16 -N2 -pdebug ./app", "./app", "srun", 16);
	check_line("srun --ntasks=16 --mpi pmix -u ./app", "./app", "srun", 16);
	check_line("srun -N 2 --ntasks-per-node=8 -c 4 ./app", "./app", "srun", 16);
	check_line("srun --nodes=4 ./app", "./app", "srun", 4);
	check_line("srun -N 2-4 ./app", "./app", "srun", 0);
	check_line("srun ./app", "./app", "srun", 0);
	setenv("SLURM_NTASKS", "12", 1);
	check_line("srun ./app", "./app", "srun", 12);
	unsetenv("SLURM_NTASKS");
	check_line("aprun -n 64 -N 16 -cc cpu -b ./app", "./app", "aprun", 64);
	check_line("jsrun -n 6 -a 4 -c 4 -g 1 ./app", "./app", "jsrun", 24);
	check_line("jsrun --np 10 --nrs 2 ./app", "./app", "jsrun", 10);
	check_line("jsrun -n 6 ./app", "./app", "jsrun", 6);
}

static void wrapper_commands_are_skipped(void)
{
	check_line("env -i -u HOME A=1 B=x=y ./app C=3", "./app C=3", NULL, 1);
	check_line("time -p -f %e nice -n 10 ./app", "./app", NULL, 1);
	check_line("nice -5 ionice -c2 -n 7 ./app", "./app", NULL, 1);
	check_line("taskset -c 0-3 ./app 1", "./app 1", NULL, 1);
	check_line("timeout -k 5 60 ./app", "./app", NULL, 1);
	check_line("stdbuf -oL -e 0 ./app", "./app", NULL, 1);
	check_line("numactl --membind=0 -N 0 -l ./app", "./app", NULL, 1);
	check_line("valgrind --tool=memcheck -q ./app", "./app", NULL, 1);
	check_line("mpiexec -n 4 numactl -m 0 ./app", "./app", "mpiexec", 4);
	check_line("timeout 60 mpiexec -n 4 ./app", "./app", "mpiexec", 4);
	check_line("mpiexec -n 4 sluice run -o t --params p.xml -- ./app -o x", "./app -o x",
		   "mpiexec", 4);
	check_line("sluice report t", "sluice report t", NULL, 1);
	check_line("nohup -- ./app", "./app", NULL, 1);
}

static void a_script_is_the_program_not_its_interpreter(void)
{
	AUTO_BUF struct buf own = { 0 };

	check_line("python3 -u -W ignore sim.py --steps 3", "sim.py --steps 3", NULL, 1);
	check_line("mpiexec -n 2 python3.11 sim.py", "sim.py", "mpiexec", 2);
	check_line("mpiexec -n 2 python3 -m mpi4py sim.py a", "sim.py a", "mpiexec", 2);
	check_line("python3 -m sim a", "python3 -m sim a", NULL, 1);
	check_line("python3 -c print() a", "python3 -c print() a", NULL, 1);
	check_line("Rscript model.R", "model.R", NULL, 1);
	CHECK_TEXT(parse("python3 sim.py", &own).interpreter, "python3");
	CHECK(!parse("python3 -c x", &own).interpreter);
	CHECK(!parse("mpiexec -n 2 ./app", &own).interpreter);
}

static void the_ranks_that_a_shell_starts_are_unknown(void)
{
	check_line("sh run.sh 4", "run.sh 4", NULL, 0);
	check_line("bash -c x", "bash -c x", NULL, 0);
	check_line("mpiexec -n 4 bash run.sh", "run.sh", "mpiexec", 4);
	check_line("./fresh x", "./fresh x", NULL, 1);
}

static void a_launcher_without_a_program_is_the_program(void)
{
	check_line("mpiexec", "mpiexec", "mpiexec", 0);
	check_line("mpiexec -n 4", "mpiexec -n 4", "mpiexec", 0);
	check_line("mpiexec -configfile x", "mpiexec -configfile x", "mpiexec", 0);
	check_line("mpiexec -genv A", "mpiexec -genv A", "mpiexec", 0);
	check_line("env A=1", "env A=1", NULL, 1);
	check_line("mpiexec -n 99999999999 ./app", "./app", "mpiexec", 0);
	check_line("mpiexec -n x ./app", "./app", "mpiexec", 0);
}

static void check_kernel(const char *line, const char *name, unsigned ranks)
{
	AUTO_BUF struct buf own = { 0 };
	struct launch launch = parse(line, &own);

	CHECK_TEXT(launch.name, name);
	CHECK_INT(launch.ranks, ranks);
	CHECK(strstr(line, buf_text(&own)));
}

static void a_kernel_is_a_program_and_its_launcher(void)
{
	check_kernel("sluice lab kernel small --ranks 2 -f x.h5", "small", 2);
	check_kernel("/opt/bin/sluice lab kernel -n 8 small -n 300", "small", 8);
	check_kernel("sluice lab kernel --mpi openmpi --ranks=3 levels -b 64", "levels", 3);
	check_kernel("sluice lab kernel vpic", "vpic", 4);
	check_kernel("mpiexec -n 2 sluice lab kernel vpic", "vpic", 2);
	check_kernel("sluice lab kernel", "sluice", 1);
	check_kernel("sluice lab learn --ranks 2", "sluice", 1);
	check_kernel("mpiexec -n 2 ./app lab kernel", "app", 2);
}

/* expected NULL: no word can be put before the command, or there is none. */
static void check_step(const char *line, const char *command, const char *expected)
{
	char **argv = split(line);
	struct launch_step step;

	launch_find_step(&step, argv);
	if (!step.command != !command || (command && strcmp(step.command, command) != 0) ||
	    !step.at != !expected || (expected && strcmp(argv[step.at], expected) != 0)) {
		printf("%s\n\tstarts \"%s\" by %s\n", line, step.at ? argv[step.at] : "",
		       step.command ? step.command : "nobody");
		check_failures++;
	}
}

static void the_command_of_srun_is_found_behind_its_options(void)
{
	check_step("srun ./app -n 3", "srun", "./app");
	check_step("srun -N2 -ln 4 --mpi pmix -K1 -u --exclusive app : x", "srun", NULL);
	check_step("srun -N2 -ln 4 --mpi pmix -K1 -u --exclusive app x", "srun", "app");
	check_step("srun --ntasks=4 --export=ALL,A=1 -- sh job.sh", "srun", "sh");
	check_step("srun --wckey test -I numactl -m 0 app", "srun", "numactl");
	check_step("srun --comment=x --spank-option=1 app", "srun", "app");
	check_step("/opt/bin/srun -c 2 sluice run -- app", "srun", "sluice");
	check_step("env A=1 timeout 60 srun app", "srun", "app");
	check_step("salloc -N 2 --no-shell=no -Kterm srun -n 2 app", "srun", "app");
}

static void nothing_is_put_before_words_that_may_not_be_a_program(void)
{
	check_step("srun --spank-option x app", "srun", NULL);
	check_step("srun -N2 -y app", "srun", NULL);
	check_step("srun --multi-prog tasks.conf", "srun", NULL);
	check_step("srun --bcast=/tmp/app ./app", "srun", NULL);
	check_step("srun --bcast ./app", "srun", NULL);
	check_step("srun --container /images/x app", "srun", NULL);
	check_step("srun -n 1 a : -n 2 b", "srun", NULL);
}

static void other_commands_start_no_step(void)
{
	check_step("", NULL, NULL);
	check_step("./app srun x", NULL, NULL);
	check_step("srun --version", NULL, NULL);
	check_step("srun --mpi=list", NULL, NULL);
	check_step("srun", NULL, NULL);
	check_step("mpiexec -n 2 srun app", NULL, NULL);
	check_step("sh -c srun", NULL, NULL);
	check_step("salloc -N 2", NULL, NULL);
	check_step("nice sbatch --wait job.sh", "sbatch", NULL);
}

TESTS(TEST(the_command_of_srun_is_found_behind_its_options),
      TEST(nothing_is_put_before_words_that_may_not_be_a_program),
      TEST(other_commands_start_no_step), TEST(a_kernel_is_a_program_and_its_launcher),
      TEST(a_plain_program_has_one_rank), TEST(mpich_launchers_are_parsed),
      TEST(open_mpi_launchers_are_parsed),
      TEST(an_unknown_option_has_a_value_unless_a_program_follows),
      TEST(ranks_of_several_programs_add_up), TEST(slurm_and_other_launchers_are_parsed),
      TEST(wrapper_commands_are_skipped), TEST(a_script_is_the_program_not_its_interpreter),
      TEST(the_ranks_that_a_shell_starts_are_unknown),
      TEST(a_launcher_without_a_program_is_the_program))
