/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The marks of annotated prototypes. They are empty macros for the compiler, which checks every
 * prototype against the library's own headers; wrapgen reads them. Include this header last. Reference:
 * docs/reference/interfaces.md.
 * Papers: SIOX-20, SIOX-23.
 */
#ifndef SLUICE_CAPTURE_INTERFACES_MARKS_H
#define SLUICE_CAPTURE_INTERFACES_MARKS_H

/* wrapgen reads the preprocessed header, which has to contain the marks. */
#ifndef SLUICE_WRAPGEN

/* On a line of its own, for all functions below. */
#define LAYER(layer)     /* their layer */
#define LIBRARY(space)   /* the library that they belong to, which may be absent or loaded late */
#define ALSO(prefix)     /* each function also exists with this prefix */
#define ONLY(prefix)     /* the same, and only the names with the prefix have wrappers */

/* Before a prototype. */
#define CALL(class)      /* the class of the call; required */
#define FAILS(how)       /* how it reports failure, if not by the default of its result type */
#define ERROR(when, value) /* it has failed if `when` is true; `value` is the recorded error */
#define MAKES(kind)      /* makes a handle: FILE, NETWORK, OWN, SAME (as its argument) or HANDLE (of a library) */
#define ENDS             /* the handle is closed, whether the call succeeds or not */
#define IMPLIED(stream)  /* the handle is this stream, which is not an argument */
#define RESULT(...)      /* the recorded result, if it is not `ret` */
#define FIELD(name, ...) /* a computed field of the record */
#define ONLY_IF(...)     /* if false, the call is not recorded */
#define REST(...)        /* the one argument of `...`, and the condition under which it is passed */
#define FORWARD(vname)   /* the function that takes a va_list instead of `...` */
#define KEEP_IF(...)     /* if false after the call, it is not recorded */
#define QUIET            /* never recorded; only BEFORE and AFTER run */
#define LEAVES           /* does not return; recorded before the call */
#define FIRST(...)       /* C statements before everything else, also if the call is not recorded */
#define LAST(...)        /* the same after everything else */
#define PASS(argument, ...) /* the expression that the real function gets instead of the argument */
#define BEFORE(...)      /* C statements before the real call */
#define AFTER(...)       /* C statements after the record */

/* Before an argument. */
#define FD        /* the handle: a descriptor */
#define STREAM    /* the handle: a FILE * */
#define DIRP      /* the handle: a DIR * */
#define HANDLE    /* the handle: one of the library */
#define HANDLE_AT /* the handle: what this points to */
#define MADE      /* pointer to the new handle */
#define SOURCE    /* second descriptor: the source of the data */
#define DIRFD     /* second descriptor: the directory that a path starts from */
#define PATH
#define PATH2
#define SIZE      /* bytes */
#define ITEM      /* bytes of one item; size and result become bytes */
#define ITEMS     /* number of items */
#define IOV       /* struct iovec * */
#define IOVCNT    /* number of struct iovec */
#define OFFSET
#define OFFSET_AT /* off_t * that the call advances; NULL for the file position */
#define FLAGS     /* flags, whence, command or advice */
#define MODE      /* permissions, protection or mask */
#define VARIABLE  /* number of a variable inside the file */
#define NAME      /* name of an object inside the file, or of an extended attribute */

#endif

#endif
