/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Why a call or a whole process is missing in a trace. Guest-safe. The guest counts losses by these
 * numbers; traces contain the names, which observe/tally/losses.c assigns.
 */
#ifndef SLUICE_CONTRACT_LOSS_H
#define SLUICE_CONTRACT_LOSS_H

/* The values are part of the format of spools and of the control page. */
enum loss_cause {
	LOSS_UNKNOWN,
	/* Resources that the guest could not get. */
	LOSS_SPOOL_LIMIT,   /* the spools of the run have reached their maximum size */
	LOSS_NO_SPACE,	    /* the file system of the spool is full, or the quota is exhausted */
	LOSS_ADDRESS_SPACE, /* memory could not be mapped (ulimit -v) */
	LOSS_FILE_SIZE,	    /* the spool would exceed the limit on file sizes (ulimit -f) */
	LOSS_DESCRIPTORS,   /* no free file descriptor (ulimit -n) */
	LOSS_SANDBOX,	    /* a seccomp filter is installed, so the guest makes no system calls */
	/* The spool directory is out of reach. */
	LOSS_USER,	/* the process runs as another user */
	LOSS_NAMESPACE, /* another mount namespace or root directory */
	/* Limits of the guest. */
	LOSS_NESTED,  /* signal handlers that interrupted each other inside the guest */
	LOSS_THREADS, /* all thread numbers are used */
	/* Found by the host. */
	LOSS_DAMAGED,	/* the process has overwritten its spool */
	LOSS_PROCESSES, /* the run has more processes than the collector can follow */
	/* Programs that cannot be recorded. */
	LOSS_STATIC,	  /* statically linked */
	LOSS_MUSL,	  /* linked with musl instead of glibc */
	LOSS_GO,	  /* Go makes system calls without libc */
	LOSS_PRIVILEGES,  /* set-user-id, set-group-id, or with file capabilities */
	LOSS_MACHINE,	  /* built for another machine type */
	LOSS_ENVIRONMENT, /* started without the environment variables of the run */
	LOSS_CAUSES,
};

#endif
