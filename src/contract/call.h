/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of wrapped calls. sluice/call.h defines its types.
 *
 * wrapgen generates the table from capture/interfaces/. Guest and host are built from the same
 * rows, so the call number is all that is needed to decode a record. Guest-safe: uses no libc
 * function.
 */
#ifndef SLUICE_CONTRACT_CALL_H
#define SLUICE_CONTRACT_CALL_H

#include <sluice/call.h>

/*
 * The generated table. Number 0 is CALL_none, which no record has. The guest writes some records
 * that are not calls of the program:
 *
 *   CALL_inherited     the first use of a descriptor that no wrapped call has opened. NAME is the
 *                      addresses of a TCP connection, as of connect() and accept()
 *   CALL_fuse_request, CALL_fuse_reply   what a FUSE server has read from /dev/fuse or written to
 *                      it, as a child of the call. RESULT is the number of the request. Of a
 *                      request, FLAGS is the kernel's code of the operation, VARIABLE the id of the
 *                      thread that made the call (0: the kernel itself, or one of another
 *                      namespace); of a transfer, SIZE and OFFSET are those asked for
 *   CALL_completed_*   one asynchronous operation that a waiting call has found complete. It is a
 *                      child of the waiting call; its LINK is the call that started the operation
 *   CALL_*_parameters  after a file or dataset was opened while parameters are injected. LINK is
 *                      the handle, NAME what was requested (KEY=VALUE;KEY=VALUE, and KEY=!REASON
 *                      for a refused parameter), HINTS what is in effect
 *   CALL_activity      what the program says of itself (sluice/instrument.h): LINK is the activity
 *   CALL_phase         that caused it, SIZE the bytes it handles, VARIABLE its time step (-1:
 * none), CALL_misuse        NAME "component/name", HINTS its attributes. A phase lasts until the
 * next one of the process. NAME of a misuse says what was wrong CALL_H5D_layout,
 * CALL_H5D_no_collective   see capture/libraries/hdf5_facts.h
 *
 * and the operations that a call hands to io_uring or libaio, as children of that call.
 */
extern const struct call_info call_table[];
extern const unsigned call_count;

/* Changes with every change of the table; never 0. Processes of different builds do not understand
 * each other's records, even if their spools have the same version. */
extern const uint32_t call_digest;

#endif
