#include "textflag.h"

// The kernel calls a handler with the signal's number in DI, and puts all
// registers back afterwards.
TEXT ·noteSignal(SB),NOSPLIT|NOFRAME,$0-0
	LEAQ ·noted(SB), AX
	MOVL $1, (AX)(DI*4)
	RET

// The handler returns here.
TEXT ·endHandler(SB),NOSPLIT|NOFRAME,$0-0
	MOVQ $15, AX // rt_sigreturn
	SYSCALL
	INT  $3      // not reached

TEXT ·noteSignalAddress(SB),NOSPLIT,$0-8
	LEAQ ·noteSignal(SB), AX
	MOVQ AX, ret+0(FP)
	RET

TEXT ·endHandlerAddress(SB),NOSPLIT,$0-8
	LEAQ ·endHandler(SB), AX
	MOVQ AX, ret+0(FP)
	RET

TEXT ·sigaction(SB),NOSPLIT,$0-24
	MOVQ sig+0(FP), DI
	MOVQ act+8(FP), SI
	MOVQ old+16(FP), DX
	MOVQ $8, R10 // the size of a mask
	MOVQ $13, AX // rt_sigaction
	SYSCALL
	RET

// It ends the process with 128 plus the number.
TEXT ·exitBySignal(SB),NOSPLIT|NOFRAME,$0-0
	ADDL $128, DI
	MOVL $231, AX // exit_group
	SYSCALL
	INT  $3       // not reached

TEXT ·exitBySignalAddress(SB),NOSPLIT,$0-8
	LEAQ ·exitBySignal(SB), AX
	MOVQ AX, ret+0(FP)
	RET
