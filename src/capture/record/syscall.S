/* SPDX-License-Identifier: BSD-3-Clause
 *
 * syscall() is passed on by a jump with all registers and the stack as they are: the number of its arguments
 * is unknown, and some system calls return twice. Only calls that may install a seccomp filter go to
 * syscall_sealing() in sandbox.c, and those before the real function is known.
 */
	.hidden	syscall_sealing
#ifdef SLUICE_LINKED
#define syscall __wrap_syscall
#else
	.hidden	syscall_found
#endif
	.globl	syscall
	.type	syscall, %function
	.text
	.p2align 4
syscall:
	.cfi_startproc
#if defined(__aarch64__)
	hint	#34
	cmp	x0, #277		/* seccomp */
	b.eq	1f
	cmp	x0, #167		/* prctl */
	b.eq	1f
#ifdef SLUICE_LINKED
	b	__real_syscall
#else
	adrp	x16, syscall_found
	ldr	x16, [x16, #:lo12:syscall_found]
	cbz	x16, 1f
	br	x16
#endif
1:	b	syscall_sealing
#elif defined(__x86_64__)
	endbr64
	cmpq	$317, %rdi		/* seccomp */
	je	1f
	cmpq	$157, %rdi		/* prctl */
	je	1f
#ifdef SLUICE_LINKED
	jmp	__real_syscall
#else
	movq	syscall_found(%rip), %rax
	testq	%rax, %rax
	je	1f
	jmp	*%rax
#endif
1:	jmp	syscall_sealing
#else
#error "syscall.S supports aarch64 and x86-64 only"
#endif
	.cfi_endproc
	.size	syscall, . - syscall
	.section .note.GNU-stack, "", %progbits
