/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layer PnetCDF: files, definitions and settings, all families of put and get (blocking, collective
 * and non-blocking), and the waiting calls. docs/reference/interfaces.md explains the marks, capture/libraries/netcdf.h
 * the helpers; tests/lint/not-io-pnetcdf.txt says why the other functions are left out.
 *
 * A family is written once for each shape (the part of a variable) and expanded for each type.
 */
#ifndef SLUICE_CAPTURE_INTERFACES_PNETCDF_H
#define SLUICE_CAPTURE_INTERFACES_PNETCDF_H

/* The newest version whose functions are recorded; `sluice version --json` shows it. */
#define PNETCDF_INTERFACE "1.12"

/* tests/lint compiles this header against that of an installed PnetCDF; the guest needs none. */
#ifdef SLUICE_CHECK
#include <mpi.h>
#include <pnetcdf.h>
#else
#include "capture/libraries/netcdf.h"
#endif

#include "capture/interfaces/marks.h"

LAYER(PNETCDF)
LIBRARY(PNETCDF)

/* Marks that several rows share. */
#define OPENS CALL(OPEN) FAILS(STATUS) MAKES(HANDLE) AFTER(netcdf_renumbered(&pnetcdf_library);)
#define CLOSES                                                          \
	CALL(CLOSE) FAILS(STATUS) ENDS                                  \
	BEFORE(pnetcdf_forget(called, entry, ncid);)                    \
	AFTER(netcdf_renumbered(&pnetcdf_library);)
#define CHANGES CALL(META) FAILS(STATUS)
#define SETS CALL(CONTROL) FAILS(STATUS)
#define SYNCS CALL(SYNC) FAILS(STATUS)
#define COPIES CALL(COPY) FAILS(STATUS)
#define MOVES(class) CALL(class) FAILS(STATUS) RESULT(err ? -1 : (int64_t)size)

/* Files. */
OPENS
int ncmpi_create(MPI_Comm comm, PATH const char *path, FLAGS int cmode, MPI_Info info, MADE int *ncidp);
OPENS
int ncmpi_open(MPI_Comm comm, PATH const char *path, FLAGS int omode, MPI_Info info, MADE int *ncidp);
CLOSES int ncmpi_close(HANDLE int ncid);
CLOSES int ncmpi_abort(HANDLE int ncid);
CALL(STAT) FAILS(STATUS) int ncmpi_inq_file_format(PATH const char *filename, int *formatp);
CHANGES int ncmpi_delete(PATH const char *filename, MPI_Info info);
CHANGES int ncmpi_redef(HANDLE int ncid);
CHANGES int ncmpi_enddef(HANDLE int ncid);
CHANGES
int ncmpi__enddef(HANDLE int ncid, MODE MPI_Offset h_minfree, SIZE MPI_Offset v_align,
		  MPI_Offset v_minfree, MPI_Offset r_align);
SYNCS int ncmpi_sync(HANDLE int ncid);
SYNCS int ncmpi_sync_numrecs(HANDLE int ncid);
SYNCS int ncmpi_flush(HANDLE int ncid);
SETS int ncmpi_begin_indep_data(HANDLE int ncid);
SETS int ncmpi_end_indep_data(HANDLE int ncid);
SETS int ncmpi_buffer_attach(HANDLE int ncid, SIZE MPI_Offset bufsize);
SETS int ncmpi_buffer_detach(HANDLE int ncid);

/* Definitions and settings. */
CHANGES int ncmpi_def_dim(HANDLE int ncid, NAME const char *name, SIZE MPI_Offset len, int *idp);
CHANGES FIELD(VARIABLE, err ? -1 : *varidp)
int ncmpi_def_var(HANDLE int ncid, NAME const char *name, FLAGS nc_type xtype, MODE int ndims,
		  const int *dimidsp, int *varidp);
CHANGES int ncmpi_rename_dim(HANDLE int ncid, int dimid, NAME const char *name);
CHANGES int ncmpi_rename_var(HANDLE int ncid, VARIABLE int varid, NAME const char *name);
CHANGES
int ncmpi_rename_att(HANDLE int ncid, VARIABLE int varid, NAME const char *name, const char *newname);
CHANGES int ncmpi_del_att(HANDLE int ncid, VARIABLE int varid, NAME const char *name);
COPIES FIELD(LINK2, pnetcdf_link(called, ncid_out))
int ncmpi_copy_att(HANDLE int ncid_in, VARIABLE int varid_in, NAME const char *name, int ncid_out,
		   int varid_out);
SETS int ncmpi_set_fill(HANDLE int ncid, FLAGS int fillmode, int *old_modep);
SETS int ncmpi_set_default_format(FLAGS int format, int *old_formatp);
SETS int ncmpi_def_var_fill(HANDLE int ncid, VARIABLE int varid, FLAGS int no_fill, const void *fill_value);
CALL(WRITE) FAILS(STATUS) RESULT(err ? -1 : 0)
int ncmpi_fill_var_rec(HANDLE int ncid, VARIABLE int varid, OFFSET MPI_Offset recno);

/* By type: the suffix of the name, and the C type. */
#define TYPES(X)                         \
	X(_text, char)                   \
	X(_schar, signed char)           \
	X(_uchar, unsigned char)         \
	X(_short, short)                 \
	X(_ushort, unsigned short)       \
	X(_int, int)                     \
	X(_uint, unsigned int)           \
	X(_long, long)                   \
	X(_float, float)                 \
	X(_double, double)               \
	X(_longlong, long long)          \
	X(_ulonglong, unsigned long long)

/*
 * Variables. A shape consists of arguments, in parentheses and with a final comma, and of bytes(e): the
 * bytes that they select if an element has e bytes; 0 stands for the size of the variable's own type.
 */
#define ARGUMENTS(...) __VA_ARGS__

#define BYTES_VAR(e) netcdf_variable_bytes(&pnetcdf_library, called, ncid, varid, e, entry, err)
#define BYTES_VAR1(e) netcdf_element_bytes(&pnetcdf_library, called, ncid, varid, e, err)
#define BYTES_VARA(e) netcdf_slab_bytes(&pnetcdf_library, called, ncid, varid, count, e, err)
#define BYTES_VARN(e) pnetcdf_pieces_bytes(called, ncid, varid, num, counts, e, err)

/* One function: class, bytes, name, and the arguments after the variable. */
#define ACCESS(class, bytes, name, ...) \
	MOVES(class) FIELD(SIZE, bytes) int ncmpi_##name(HANDLE int ncid, VARIABLE int varid, __VA_ARGS__);
#define START(direction, bytes, name, ...)                                                             \
	CALL(START) FAILS(STATUS) FIELD(SIZE, bytes)                                                   \
	AFTER(pnetcdf_started(&f, called, entry, ncid, req, PNETCDF_##direction, size, err);)          \
	int ncmpi_##name(HANDLE int ncid, VARIABLE int varid, __VA_ARGS__, int *req);

/* All functions of one shape and type; buffer is the arguments after the pointer. */
#define FAMILY(shape, arguments, bytes, type, c, ...)                                                  \
	ACCESS(WRITE, bytes, put_##shape##type, ARGUMENTS arguments const c *op __VA_ARGS__)           \
	ACCESS(WRITE, bytes, put_##shape##type##_all, ARGUMENTS arguments const c *op __VA_ARGS__)     \
	ACCESS(READ, bytes, get_##shape##type, ARGUMENTS arguments c *ip __VA_ARGS__)                  \
	ACCESS(READ, bytes, get_##shape##type##_all, ARGUMENTS arguments c *ip __VA_ARGS__)            \
	START(PUT, bytes, iput_##shape##type, ARGUMENTS arguments const c *op __VA_ARGS__)             \
	START(PUT, bytes, bput_##shape##type, ARGUMENTS arguments const c *op __VA_ARGS__)             \
	START(GET, bytes, iget_##shape##type, ARGUMENTS arguments c *ip __VA_ARGS__)

/* All shapes, with a buffer described by an MPI type, and for each type. */
#define BUFFER , MPI_Offset bufcount, MPI_Datatype buftype
#define BUFFER_BYTES(bytes) err ? 0 : pnetcdf_buffer_bytes(called, buftype, bufcount, bytes(0), bytes(1))

#define VAR ()
#define VAR1 (const MPI_Offset *start,)
#define VARA (const MPI_Offset *start, const MPI_Offset *count,)
#define VARS (const MPI_Offset *start, const MPI_Offset *count, const MPI_Offset *stride,)
#define VARM                                                                                  \
	(const MPI_Offset *start, const MPI_Offset *count, const MPI_Offset *stride,          \
	 const MPI_Offset *imap,)
#define VARN (int num, MPI_Offset *const *starts, MPI_Offset *const *counts,)

#define OF_TYPE(type, c)                                       \
	FAMILY(var, VAR, BYTES_VAR(sizeof(c)), type, c)        \
	FAMILY(var1, VAR1, BYTES_VAR1(sizeof(c)), type, c)     \
	FAMILY(vara, VARA, BYTES_VARA(sizeof(c)), type, c)     \
	FAMILY(vars, VARS, BYTES_VARA(sizeof(c)), type, c)     \
	FAMILY(varm, VARM, BYTES_VARA(sizeof(c)), type, c)     \
	FAMILY(varn, VARN, BYTES_VARN(sizeof(c)), type, c)

FAMILY(var, VAR, BUFFER_BYTES(BYTES_VAR), , void, BUFFER)
FAMILY(var1, VAR1, BUFFER_BYTES(BYTES_VAR1), , void, BUFFER)
FAMILY(vara, VARA, BUFFER_BYTES(BYTES_VARA), , void, BUFFER)
FAMILY(vars, VARS, BUFFER_BYTES(BYTES_VARA), , void, BUFFER)
FAMILY(varm, VARM, BUFFER_BYTES(BYTES_VARA), , void, BUFFER)
FAMILY(varn, VARN, BUFFER_BYTES(BYTES_VARN), , void, BUFFER)
TYPES(OF_TYPE)

/* A part of the variable that an MPI type describes. */
#define BYTES_VARD err ? 0 : pnetcdf_described_bytes(called, filetype, buftype, bufcount)
ACCESS(WRITE, BYTES_VARD, put_vard, MPI_Datatype filetype, const void *ip BUFFER)
ACCESS(WRITE, BYTES_VARD, put_vard_all, MPI_Datatype filetype, const void *ip BUFFER)
ACCESS(READ, BYTES_VARD, get_vard, MPI_Datatype filetype, void *ip BUFFER)
ACCESS(READ, BYTES_VARD, get_vard_all, MPI_Datatype filetype, void *ip BUFFER)

/* Several variables at once. */
#define SEVERAL(class, bytes, name, ...)    \
	MOVES(class) FIELD(SIZE, bytes)     \
	int ncmpi_##name(HANDLE int ncid, int num, int *varids, __VA_ARGS__);

#define EACH_VAR(e) pnetcdf_variables_bytes(called, ncid, num, varids, e, err)
#define EACH_VAR1(e) pnetcdf_slabs_bytes(called, ncid, num, varids, NULL, e, err)
#define EACH_VARA(e) pnetcdf_slabs_bytes(called, ncid, num, varids, counts, e, err)

#define FAMILY_EACH(shape, arguments, bytes, type, c, ...)                                     \
	SEVERAL(WRITE, bytes, mput_##shape##type, ARGUMENTS arguments c *const *buf __VA_ARGS__)     \
	SEVERAL(WRITE, bytes, mput_##shape##type##_all, ARGUMENTS arguments c *const *buf __VA_ARGS__) \
	SEVERAL(READ, bytes, mget_##shape##type, ARGUMENTS arguments c **bufs __VA_ARGS__)           \
	SEVERAL(READ, bytes, mget_##shape##type##_all, ARGUMENTS arguments c **bufs __VA_ARGS__)

#define BUFFERS , const MPI_Offset *bufcounts, const MPI_Datatype *datatypes
#define BUFFERS_BYTES pnetcdf_buffers_bytes(called, num, bufcounts, datatypes, err)

#define MVAR1 (MPI_Offset *const *starts,)
#define MVARA (MPI_Offset *const *starts, MPI_Offset *const *counts,)
#define MVARS (MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,)
#define MVARM                                                                                    \
	(MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,       \
	 MPI_Offset *const *imaps,)

#define EACH_OF_TYPE(type, c)                                      \
	FAMILY_EACH(var, VAR, EACH_VAR(sizeof(c)), type, c)        \
	FAMILY_EACH(var1, MVAR1, EACH_VAR1(sizeof(c)), type, c)    \
	FAMILY_EACH(vara, MVARA, EACH_VARA(sizeof(c)), type, c)    \
	FAMILY_EACH(vars, MVARS, EACH_VARA(sizeof(c)), type, c)    \
	FAMILY_EACH(varm, MVARM, EACH_VARA(sizeof(c)), type, c)

FAMILY_EACH(var, VAR, BUFFERS_BYTES, , void, BUFFERS)
FAMILY_EACH(var1, MVAR1, BUFFERS_BYTES, , void, BUFFERS)
FAMILY_EACH(vara, MVARA, BUFFERS_BYTES, , void, BUFFERS)
FAMILY_EACH(vars, MVARS, BUFFERS_BYTES, , void, BUFFERS)
FAMILY_EACH(varm, MVARM, BUFFERS_BYTES, , void, BUFFERS)
TYPES(EACH_OF_TYPE)

/* Completion. A waiting call has a child record for each request that it has found complete. */
#define WAITS(count, requests, statuses, moved)                                                          \
	CALL(WAIT) FAILS(STATUS)                                                                         \
	BEFORE(struct pnetcdf_wait wait = pnetcdf_wait_begin(called, entry, ncid, count, requests);)     \
	RESULT(err ? -1 : (moved) ? (int64_t)pnetcdf_wait_bytes(&wait, called) : 0)                      \
	AFTER(pnetcdf_wait_end(&wait, &f, called, entry, statuses, moved, err);)

WAITS(count, array_of_requests, array_of_statuses, true)
int ncmpi_wait(HANDLE int ncid, int count, int *array_of_requests, int *array_of_statuses);
WAITS(count, array_of_requests, array_of_statuses, true)
int ncmpi_wait_all(HANDLE int ncid, int count, int *array_of_requests, int *array_of_statuses);
WAITS(num, reqs, statuses, false) int ncmpi_cancel(HANDLE int ncid, int num, int *reqs, int *statuses);

/* Attributes. Text is written without conversion. */
#define GET_ATTRIBUTE(type, c, e)                                                                        \
	MOVES(READ) FIELD(SIZE, netcdf_attribute_bytes(&pnetcdf_library, called, ncid, varid, name, e, err))   \
	int ncmpi_get_att##type(HANDLE int ncid, VARIABLE int varid, NAME const char *name, c *ip);
#define PUT_ATTRIBUTE(type, c)                                                                           \
	MOVES(WRITE) FIELD(SIZE, (uint64_t)len * sizeof(c))                                              \
	int ncmpi_put_att##type(HANDLE int ncid, VARIABLE int varid, NAME const char *name, nc_type xtype, \
				MPI_Offset len, const c *op);
#define GET_TYPED(type, c) GET_ATTRIBUTE(type, c, sizeof(c))

GET_ATTRIBUTE(, void, 0)
TYPES(GET_TYPED)
MOVES(WRITE) FIELD(SIZE, netcdf_typed_bytes(&pnetcdf_library, called, ncid, xtype, (uint64_t)nelems, err))
int ncmpi_put_att(HANDLE int ncid, VARIABLE int varid, NAME const char *name, nc_type xtype,
		  MPI_Offset nelems, const void *value);
MOVES(WRITE)
int ncmpi_put_att_text(HANDLE int ncid, VARIABLE int varid, NAME const char *name, SIZE MPI_Offset len,
		       const char *op);
PUT_ATTRIBUTE(_schar, signed char)
PUT_ATTRIBUTE(_uchar, unsigned char)
PUT_ATTRIBUTE(_short, short)
PUT_ATTRIBUTE(_ushort, unsigned short)
PUT_ATTRIBUTE(_int, int)
PUT_ATTRIBUTE(_uint, unsigned int)
PUT_ATTRIBUTE(_long, long)
PUT_ATTRIBUTE(_float, float)
PUT_ATTRIBUTE(_double, double)
PUT_ATTRIBUTE(_longlong, long long)
PUT_ATTRIBUTE(_ulonglong, unsigned long long)

#undef OPENS
#undef CLOSES
#undef CHANGES
#undef SETS
#undef SYNCS
#undef COPIES
#undef MOVES
#undef TYPES
#undef ARGUMENTS
#undef BYTES_VAR
#undef BYTES_VAR1
#undef BYTES_VARA
#undef BYTES_VARN
#undef ACCESS
#undef START
#undef FAMILY
#undef BUFFER
#undef BUFFER_BYTES
#undef VAR
#undef VAR1
#undef VARA
#undef VARS
#undef VARM
#undef VARN
#undef OF_TYPE
#undef BYTES_VARD
#undef SEVERAL
#undef EACH_VAR
#undef EACH_VAR1
#undef EACH_VARA
#undef FAMILY_EACH
#undef BUFFERS
#undef BUFFERS_BYTES
#undef MVAR1
#undef MVARA
#undef MVARS
#undef MVARM
#undef EACH_OF_TYPE
#undef WAITS
#undef GET_ATTRIBUTE
#undef PUT_ATTRIBUTE
#undef GET_TYPED

#endif
