/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The marks of annotated prototypes. For the compiler they are nothing, so that it checks every line
 * against the library's own headers; wrapgen reads them. Include this last. Reference: docs/wrapgen.md.
 */
#ifndef SLUICE_CAPTURE_INTERFACES_MARKS_H
#define SLUICE_CAPTURE_INTERFACES_MARKS_H

/* wrapgen gets the header preprocessed, with the marks in it. */
#ifndef SLUICE_WRAPGEN

/* On a line of its own: of the functions below. */
#define LAYER(layer)     /* their layer */
#define LIBRARY(space)   /* they are of a library that may come late or not at all, as are handles */
#define ALSO(prefix)     /* each exists once more, with this before its name */
#define ONLY(prefix)     /* the same, and only those have wrappers */

/* Before a prototype. */
#define CALL(class)      /* what kind of call it is; required */
#define FAILS(how)       /* how it tells failure, where the result type does not say */
#define ERROR(when, value) /* failed when this holds; the value is what is recorded as error */
#define MAKES(kind)      /* a new handle: FILE, NETWORK, OWN, the SAME as its argument, or HANDLE */
#define ENDS             /* the handle ends with this call, whether it succeeds or not */
#define IMPLIED(stream)  /* the handle is this stream, which is no argument */
#define RESULT(...)      /* the recorded result, where it is not `ret` */
#define FIELD(name, ...) /* a field of the record that no argument gives as it is */
#define ONLY_IF(...)     /* else it is none of ours: the bare call */
#define REST(...)        /* the one argument behind `...`, and when it is there */
#define FORWARD(vname)   /* the function that takes a va_list instead of `...` */
#define KEEP_IF(...)     /* asked after the call; else it is not recorded */
#define QUIET            /* never recorded: only BEFORE and AFTER run */
#define LEAVES           /* does not come back: recorded before the call */
#define FIRST(...)       /* C statements before all else, also of a call that is not recorded, */
#define LAST(...)        /* and after all else */
#define PASS(argument, ...) /* what the real function gets in place of the argument */
#define BEFORE(...)      /* C statements before the real call */
#define AFTER(...)       /* C statements after the record */

/* Before an argument. */
#define FD        /* the handle: a descriptor */
#define STREAM    /* the handle: a FILE * */
#define DIRP      /* the handle: a DIR * */
#define HANDLE    /* the handle: one of the library's own, */
#define HANDLE_AT /* or what this points to */
#define MADE      /* points to where the new handle is stored */
#define SOURCE    /* second descriptor, where data comes from */
#define DIRFD     /* second descriptor, where a path starts */
#define PATH
#define PATH2
#define SIZE      /* bytes */
#define ITEM      /* bytes of one item; size and result become bytes */
#define ITEMS     /* how many */
#define IOV       /* struct iovec * ... */
#define IOVCNT    /* ... and how many of them */
#define OFFSET
#define OFFSET_AT /* off_t * that the call moves on; NULL for the file's own position */
#define FLAGS     /* also whence, command, advice */
#define MODE      /* permissions, protection, mask */
#define VARIABLE  /* number of a variable inside the file */
#define NAME      /* of an object inside the file */

#endif

#endif
