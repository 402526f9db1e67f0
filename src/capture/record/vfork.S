/* SPDX-License-Identifier: BSD-3-Clause
 *
 * vfork returns twice on one stack with one thread pointer, so it cannot be wrapped in C. The child runs
 * in its parent's thread. While capture_self.vforked (the first member) is not 0, the guest records nothing;
 * the parent continues only after the child's exec or exit. It is a counter because a child may vfork, too.
 */
	.hidden	capture_self
	.hidden	vfork_failed
#ifdef SLUICE_LINKED
#define vfork __wrap_vfork
#define __vfork __wrap___vfork
#endif
	.globl	vfork, __vfork
	.type	vfork, %function
	.set	__vfork, vfork
	.text
	.p2align 4
vfork:
	.cfi_startproc
#if defined(__aarch64__)
	/* x9, the address of the counter, survives the system call. The return address stays in x30. */
	hint	#34
	mrs	x1, tpidr_el0
	adrp	x2, :gottprel:capture_self
	ldr	x2, [x2, #:gottprel_lo12:capture_self]
	add	x1, x1, x2
	ldr	w3, [x1]
	add	w3, w3, #1
	str	w3, [x1]
	mov	x9, x1
	mov	x0, #0x4111		/* CLONE_VM | CLONE_VFORK | SIGCHLD */
	mov	x1, #0
	mov	x2, #0
	mov	x3, #0
	mov	x4, #0
	mov	x8, #220		/* clone */
	svc	#0
	cbz	x0, 1f
	ldr	w3, [x9]
	sub	w3, w3, #1
	str	w3, [x9]
	cmn	x0, #4095
	b.cs	vfork_failed
1:	ret
#elif defined(__x86_64__)
	/* The child may overwrite the return address on the stack: it is kept in rdi, which the kernel preserves. */
	endbr64
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rdi
	movq	capture_self@gottpoff(%rip), %rdx
	incl	%fs:(%rdx)
	movl	$58, %eax		/* vfork */
	syscall
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	testl	%eax, %eax
	jz	1f
	decl	%fs:(%rdx)
	cmpq	$-4095, %rax
	jae	2f
1:	ret
2:	movq	%rax, %rdi
	jmp	vfork_failed
#else
#error "vfork.S supports aarch64 and x86-64 only"
#endif
	.cfi_endproc
	.size	vfork, . - vfork
	.section .note.GNU-stack, "", %progbits
