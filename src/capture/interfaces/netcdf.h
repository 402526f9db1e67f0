/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layer NetCDF: files, definitions and settings, and every family of put and get. docs/reference/interfaces.md
 * explains the marks, capture/libraries/netcdf.h the helpers.
 *
 * The number of a group contains that of its file, so calls on it are linked to the opening of the file.
 * tests/lint/not-io-netcdf.txt says why the other functions are left out.
 * Papers: SIOX-24.
 */
#ifndef SLUICE_CAPTURE_INTERFACES_NETCDF_H
#define SLUICE_CAPTURE_INTERFACES_NETCDF_H

/* The newest version whose functions are recorded; `sluice version --json` shows it. */
#define NETCDF_INTERFACE "4.9"

#include <stddef.h>

/* tests/lint compiles this header against that of each installed NetCDF; the guest needs none. */
#ifdef SLUICE_CHECK
#include <netcdf.h>
#include <netcdf_filter.h>
#include <netcdf_mem.h>
#include <netcdf_meta.h>
#if NC_HAS_PARALLEL
#include <netcdf_par.h>
#define PARALLEL 1
#endif
#define SINCE(major, minor) \
	(NC_VERSION_MAJOR > (major) || (NC_VERSION_MAJOR == (major) && NC_VERSION_MINOR >= (minor)))
#else
#include "capture/libraries/netcdf.h"
#define PARALLEL 1
#define SINCE(major, minor) 1
#endif

#include "capture/interfaces/marks.h"

LAYER(NETCDF)
LIBRARY(NETCDF)

/* Marks that several rows share. */
#define OPENS CALL(OPEN) FAILS(STATUS) MAKES(HANDLE) AFTER(netcdf_opened(opened, 0);)
#define CLOSES CALL(CLOSE) FAILS(STATUS) ENDS AFTER(netcdf_renumbered(&netcdf_library);)
#define CHANGES CALL(META) FAILS(STATUS)
#define SETS CALL(CONTROL) FAILS(STATUS)
#define SYNCS CALL(SYNC) FAILS(STATUS)
#define COPIES CALL(COPY) FAILS(STATUS)
#define MOVES(class) CALL(class) FAILS(STATUS) RESULT(err ? -1 : (int64_t)size)

/* Files. */
OPENS int nc_create(PATH const char *path, FLAGS int cmode, MADE int *ncidp);
OPENS int nc_open(PATH const char *path, FLAGS int mode, MADE int *ncidp);
OPENS
int nc__create(PATH const char *path, FLAGS int cmode, SIZE size_t initialsz, size_t *chunksizehintp,
	       MADE int *ncidp);
OPENS int nc__open(PATH const char *path, FLAGS int mode, size_t *chunksizehintp, MADE int *ncidp);
OPENS
int nc__create_mp(PATH const char *path, FLAGS int cmode, SIZE size_t initialsz, int basepe,
		  size_t *chunksizehintp, MADE int *ncidp);
OPENS
int nc__open_mp(PATH const char *path, FLAGS int mode, int basepe, size_t *chunksizehintp,
		MADE int *ncidp);
OPENS
int nc_open_mem(PATH const char *path, FLAGS int mode, SIZE size_t bytes, void *memory, MADE int *ncidp);
OPENS
int nc_create_mem(PATH const char *path, FLAGS int mode, SIZE size_t initialsize, MADE int *ncidp);
OPENS int nc_open_memio(PATH const char *path, FLAGS int mode, NC_memio *info, MADE int *ncidp);
#ifdef PARALLEL
#define OPENS_PARALLEL CALL(OPEN) FAILS(STATUS) MAKES(HANDLE) AFTER(netcdf_opened(opened, NETCDF_PARALLEL);)
OPENS_PARALLEL
int nc_create_par(PATH const char *path, FLAGS int cmode, MPI_Comm comm, MPI_Info info, MADE int *ncidp);
OPENS_PARALLEL
int nc_open_par(PATH const char *path, FLAGS int mode, MPI_Comm comm, MPI_Info info, MADE int *ncidp);
OPENS_PARALLEL
int nc_create_par_fortran(PATH const char *path, FLAGS int cmode, int comm, int info, MADE int *ncidp);
OPENS_PARALLEL
int nc_open_par_fortran(PATH const char *path, FLAGS int mode, int comm, int info, MADE int *ncidp);
SETS int nc_var_par_access(HANDLE int ncid, VARIABLE int varid, FLAGS int par_access);
#undef OPENS_PARALLEL
#endif
CLOSES int nc_close(HANDLE int ncid);
CLOSES int nc_close_memio(HANDLE int ncid, NC_memio *info);
CLOSES int nc_abort(HANDLE int ncid);
SYNCS int nc_sync(HANDLE int ncid);
CHANGES int nc_redef(HANDLE int ncid);
CHANGES int nc_enddef(HANDLE int ncid);
CHANGES FIELD(MODE, h_minfree) FIELD(SIZE, v_align)
int nc__enddef(HANDLE int ncid, size_t h_minfree, size_t v_align, size_t v_minfree, size_t r_align);
CHANGES int nc_delete(PATH const char *path);
CHANGES int nc_delete_mp(PATH const char *path, int basepe);

/* Definitions. */
CHANGES int nc_def_dim(HANDLE int ncid, NAME const char *name, SIZE size_t len, int *idp);
CHANGES FIELD(VARIABLE, err ? -1 : *varidp)
int nc_def_var(HANDLE int ncid, NAME const char *name, FLAGS nc_type xtype, MODE int ndims,
	       const int *dimidsp, int *varidp);
CHANGES int nc_def_grp(HANDLE int parent_ncid, NAME const char *name, int *new_ncid);
CHANGES int nc_def_compound(HANDLE int ncid, SIZE size_t bytes, NAME const char *name, nc_type *typeidp);
CHANGES
int nc_insert_compound(HANDLE int ncid, nc_type xtype, NAME const char *name, OFFSET size_t offset,
		       nc_type field_typeid);
CHANGES
int nc_insert_array_compound(HANDLE int ncid, nc_type xtype, NAME const char *name, OFFSET size_t offset,
			     nc_type field_typeid, int ndims, const int *dim_sizes);
CHANGES int nc_def_vlen(HANDLE int ncid, NAME const char *name, nc_type base_typeid, nc_type *xtypep);
CHANGES int nc_def_enum(HANDLE int ncid, nc_type base_typeid, NAME const char *name, nc_type *typeidp);
CHANGES int nc_insert_enum(HANDLE int ncid, nc_type xtype, NAME const char *name, const void *value);
CHANGES int nc_def_opaque(HANDLE int ncid, SIZE size_t bytes, NAME const char *name, nc_type *xtypep);
CHANGES int nc_rename_dim(HANDLE int ncid, int dimid, NAME const char *name);
CHANGES int nc_rename_var(HANDLE int ncid, VARIABLE int varid, NAME const char *name);
CHANGES int nc_rename_grp(HANDLE int grpid, NAME const char *name);
CHANGES
int nc_rename_att(HANDLE int ncid, VARIABLE int varid, NAME const char *name, const char *newname);
CHANGES int nc_del_att(HANDLE int ncid, VARIABLE int varid, NAME const char *name);
COPIES FIELD(LINK2, netcdf_link(called, ncid_out))
int nc_copy_att(HANDLE int ncid_in, VARIABLE int varid_in, NAME const char *name, int ncid_out,
		int varid_out);
COPIES FIELD(LINK2, netcdf_link(called, ncid_out))
int nc_copy_var(HANDLE int ncid_in, VARIABLE int varid, int ncid_out);

/* Settings. */
SETS int nc_set_fill(HANDLE int ncid, FLAGS int fillmode, int *old_modep);
SETS int nc_set_default_format(FLAGS int format, int *old_formatp);
SETS int nc_set_chunk_cache(SIZE size_t bytes, MODE size_t nelems, float preemption);
SETS
int nc_set_var_chunk_cache(HANDLE int ncid, VARIABLE int varid, SIZE size_t bytes, MODE size_t nelems,
			   float preemption);
SETS int nc_def_var_chunking(HANDLE int ncid, VARIABLE int varid, FLAGS int storage, const size_t *chunksizesp);
SETS
int nc_def_var_deflate(HANDLE int ncid, VARIABLE int varid, MODE int shuffle, int deflate,
		       FLAGS int deflate_level);
SETS int nc_def_var_fletcher32(HANDLE int ncid, VARIABLE int varid, FLAGS int fletcher32);
SETS
int nc_def_var_szip(HANDLE int ncid, VARIABLE int varid, FLAGS int options_mask, MODE int pixels_per_block);
SETS int nc_def_var_fill(HANDLE int ncid, VARIABLE int varid, FLAGS int no_fill, const void *fill_value);
SETS int nc_def_var_endian(HANDLE int ncid, VARIABLE int varid, FLAGS int endian);
SETS
int nc_def_var_filter(HANDLE int ncid, VARIABLE int varid, FLAGS unsigned int id, size_t nparams,
		      const unsigned int *parms);
#if SINCE(4, 9)
SETS int nc_set_alignment(MODE int threshold, SIZE int alignment);
SETS int nc_def_var_quantize(HANDLE int ncid, VARIABLE int varid, FLAGS int quantize_mode, MODE int nsd);
SETS int nc_def_var_bzip2(HANDLE int ncid, VARIABLE int varid, FLAGS int level);
SETS int nc_def_var_zstandard(HANDLE int ncid, VARIABLE int varid, FLAGS int level);
SETS
int nc_def_var_blosc(HANDLE int ncid, VARIABLE int varid, FLAGS unsigned subcompressor, MODE unsigned level,
		     SIZE unsigned blocksize, unsigned addshuffle);
#endif

/* Variables. By type: the suffix of the name, the type that is put, the type that is got. */
#define TYPES(X)                                                \
	X(_text, const char, char)                              \
	X(_schar, const signed char, signed char)               \
	X(_uchar, const unsigned char, unsigned char)           \
	X(_ubyte, const unsigned char, unsigned char)           \
	X(_short, const short, short)                           \
	X(_ushort, const unsigned short, unsigned short)        \
	X(_int, const int, int)                                 \
	X(_uint, const unsigned int, unsigned int)              \
	X(_long, const long, long)                              \
	X(_float, const float, float)                           \
	X(_double, const double, double)                        \
	X(_longlong, const long long, long long)                \
	X(_ulonglong, const unsigned long long, unsigned long long) \
	X(_string, const char *, char *)

/*
 * In an HDF5 file the bytes are those that the nested HDF5 calls have moved: asking NetCDF for the shape of
 * a variable would make it read the attributes.
 */
#define MEASURED(bytes)                                                                  \
	BEFORE(uint64_t before = capture_self.moved;)                                    \
	FIELD(SIZE, netcdf_is_hdf5(called, ncid, err) ? capture_self.moved - before : (bytes))
#define ONE(element) MEASURED(netcdf_element_bytes(&netcdf_library, called, ncid, varid, element, err))
#define SOME(element) MEASURED(netcdf_slab_bytes(&netcdf_library, called, ncid, varid, countp, element, err))
#define WHOLE(element) MEASURED(netcdf_variable_bytes(&netcdf_library, called, ncid, varid, element, entry, err))

#define DATA(type, put, get, element)                                                                        \
	MOVES(WRITE) ONE(element)                                                                            \
	int nc_put_var1##type(HANDLE int ncid, VARIABLE int varid, const size_t *indexp, put *op);           \
	MOVES(READ) ONE(element)                                                                             \
	int nc_get_var1##type(HANDLE int ncid, VARIABLE int varid, const size_t *indexp, get *ip);           \
	MOVES(WRITE) SOME(element)                                                                           \
	int nc_put_vara##type(HANDLE int ncid, VARIABLE int varid, const size_t *startp, const size_t *countp, put *op); \
	MOVES(READ) SOME(element)                                                                            \
	int nc_get_vara##type(HANDLE int ncid, VARIABLE int varid, const size_t *startp, const size_t *countp, get *ip); \
	MOVES(WRITE) SOME(element)                                                                           \
	int nc_put_vars##type(HANDLE int ncid, VARIABLE int varid, const size_t *startp, const size_t *countp, \
			      const ptrdiff_t *stridep, put *op);                                            \
	MOVES(READ) SOME(element)                                                                            \
	int nc_get_vars##type(HANDLE int ncid, VARIABLE int varid, const size_t *startp, const size_t *countp, \
			      const ptrdiff_t *stridep, get *ip);                                            \
	MOVES(WRITE) SOME(element)                                                                           \
	int nc_put_varm##type(HANDLE int ncid, VARIABLE int varid, const size_t *startp, const size_t *countp, \
			      const ptrdiff_t *stridep, const ptrdiff_t *imapp, put *op);                    \
	MOVES(READ) SOME(element)                                                                            \
	int nc_get_varm##type(HANDLE int ncid, VARIABLE int varid, const size_t *startp, const size_t *countp, \
			      const ptrdiff_t *stridep, const ptrdiff_t *imapp, get *ip);                    \
	MOVES(WRITE) WHOLE(element) int nc_put_var##type(HANDLE int ncid, VARIABLE int varid, put *op);      \
	MOVES(READ) WHOLE(element) int nc_get_var##type(HANDLE int ncid, VARIABLE int varid, get *ip);
#define TYPED_DATA(type, put, get) DATA(type, put, get, sizeof(get))

DATA(, const void, void, 0)
TYPES(TYPED_DATA)

/* Attributes. Text and strings are written without conversion. */
#define GET_ATTRIBUTE(type, get, element)                                                                  \
	MOVES(READ) FIELD(SIZE, netcdf_attribute_bytes(&netcdf_library, called, ncid, varid, name, element, err)) \
	int nc_get_att##type(HANDLE int ncid, VARIABLE int varid, NAME const char *name, get *ip);
#define PUT_ATTRIBUTE(type, put, element)                                                                  \
	MOVES(WRITE) FIELD(SIZE, len * (element))                                                          \
	int nc_put_att##type(HANDLE int ncid, VARIABLE int varid, NAME const char *name, nc_type xtype,    \
			     size_t len, put *op);
#define PUT_ATTRIBUTE_AS_IS(type, put, element)                                                            \
	MOVES(WRITE) FIELD(SIZE, len * (element))                                                          \
	int nc_put_att##type(HANDLE int ncid, VARIABLE int varid, NAME const char *name, size_t len, put *op);
#define GET_TYPED(type, put, get) GET_ATTRIBUTE(type, get, sizeof(get))
#define PUT_TYPED(type, put) PUT_ATTRIBUTE(type, const put, sizeof(put))

GET_ATTRIBUTE(, void, 0)
TYPES(GET_TYPED)
MOVES(WRITE) FIELD(SIZE, netcdf_typed_bytes(&netcdf_library, called, ncid, xtype, len, err))
int nc_put_att(HANDLE int ncid, VARIABLE int varid, NAME const char *name, nc_type xtype, size_t len,
	       const void *op);
PUT_ATTRIBUTE_AS_IS(_text, const char, 1)
PUT_ATTRIBUTE_AS_IS(_string, const char *, sizeof(char *))
PUT_TYPED(_schar, signed char)
PUT_TYPED(_uchar, unsigned char)
PUT_TYPED(_ubyte, unsigned char)
PUT_TYPED(_short, short)
PUT_TYPED(_ushort, unsigned short)
PUT_TYPED(_int, int)
PUT_TYPED(_uint, unsigned int)
PUT_TYPED(_long, long)
PUT_TYPED(_float, float)
PUT_TYPED(_double, double)
PUT_TYPED(_longlong, long long)
PUT_TYPED(_ulonglong, unsigned long long)

#undef OPENS
#undef CLOSES
#undef CHANGES
#undef SETS
#undef SYNCS
#undef COPIES
#undef MOVES
#undef TYPES
#undef MEASURED
#undef ONE
#undef SOME
#undef WHOLE
#undef DATA
#undef TYPED_DATA
#undef GET_ATTRIBUTE
#undef PUT_ATTRIBUTE
#undef PUT_ATTRIBUTE_AS_IS
#undef GET_TYPED
#undef PUT_TYPED
#undef PARALLEL
#undef SINCE

#endif
