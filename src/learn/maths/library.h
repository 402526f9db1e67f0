/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The libraries behind the numerical work, loaded when they are first needed. They are not linked:
 * OpenBLAS starts a thread per core and libsvm brings the C++ runtime whenever a program is
 * loaded, and `sluice run` is loaded before every program of a centre.
 *
 * LAPACK's routines have Fortran's calling convention: column-major, everything by pointer, and
 * the hidden lengths of character arguments are left out, as C callers of OpenBLAS do.
 */
#ifndef SLUICE_LEARN_MATHS_LIBRARY_H
#define SLUICE_LEARN_MATHS_LIBRARY_H

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
 * NULL with a sentence that names the package to install. Any thread; the answer is the same for
 * the life of the process. OpenBLAS is told to use one thread: we run folds side by side instead.
 */
const struct lapack *library_lapack(struct err *err);
const struct svm *library_svm(struct err *err);

#endif
