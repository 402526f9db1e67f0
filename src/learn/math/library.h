/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numerical libraries that are loaded on first use. They are not linked, because OpenBLAS starts
 * one thread per core and libsvm brings the C++ runtime as soon as a program is loaded, and `sluice
 * run` starts every program of a site.
 *
 * LAPACK routines follow the Fortran calling convention: matrices are column-major and all
 * arguments are pointers. The hidden lengths of character arguments are omitted, as C callers of
 * OpenBLAS do.
 */
#ifndef SLUICE_LEARN_MATH_LIBRARY_H
#define SLUICE_LEARN_MATH_LIBRARY_H

struct err;
struct svm_model;
struct svm_parameter;
struct svm_problem;

typedef const int *lapack_int;
typedef const double *lapack_real;

struct lapack {
	void (*dgeqrf)(lapack_int m, lapack_int n, double *a, lapack_int lda, double *tau,
		       double *work, lapack_int lwork, int *info);
	void (*dpotrf)(const char *uplo, lapack_int n, double *a, lapack_int lda, int *info);
	void (*dpotrs)(const char *uplo, lapack_int n, lapack_int nrhs, lapack_real a,
		       lapack_int lda, double *b, lapack_int ldb, int *info);
	void (*dpotri)(const char *uplo, lapack_int n, double *a, lapack_int lda, int *info);
	void (*dgesvd)(const char *jobu, const char *jobvt, lapack_int m, lapack_int n, double *a,
		       lapack_int lda, double *s, double *u, lapack_int ldu, double *vt,
		       lapack_int ldvt, double *work, lapack_int lwork, int *info);
};

struct svm {
	struct svm_model *(*train)(const struct svm_problem *problem,
				   const struct svm_parameter *parameter);
	void (*free)(struct svm_model **model);
	const char *(*check)(const struct svm_problem *problem,
			     const struct svm_parameter *parameter);
};

/*
 * Returns NULL and sets err to the package to install if the library is missing. These functions
 * are thread-safe and return the same result for the life of the process. OpenBLAS is set to one
 * thread, because folds run in parallel.
 */
const struct lapack *library_lapack(struct err *err);
const struct svm *library_svm(struct err *err);

#endif
