//go:build linux && (amd64 || arm64 || riscv64)

package jail

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// allowed lists the calls that the Go runtime and a worker's loop need after everything is loaded,
// in addition to those whose arguments are checked.
var allowed = append([]uint32{
	unix.SYS_READ, unix.SYS_PREAD64, unix.SYS_WRITE, unix.SYS_CLOSE,
	unix.SYS_MUNMAP, unix.SYS_MADVISE, unix.SYS_MREMAP, unix.SYS_BRK,
	unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP,
	unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_GETRANDOM, unix.SYS_GETPID, unix.SYS_GETTID,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_CTL, // for timers; the descriptors exist already
	unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, // for a new thread
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
}, allowedHere...)

// denied lists calls that return an error instead of killing the process, because the runtime can
// do without them. prctl names mappings; glibc tries clone3 before clone.
var denied = [][2]uint32{
	{unix.SYS_PRCTL, uint32(unix.EINVAL)},
	{unix.SYS_CLONE3, uint32(unix.ENOSYS)},
}

// argument allows the call if the low half of an argument has none of bits (with some: at least one
// of them). Otherwise it kills the process.
func (p *program) argument(n int, bits uint32, some bool) {
	p.load(offArgs + 8*uint32(n))
	jt, jf := uint8(1), uint8(0)
	if some {
		jt, jf = 0, 1
	}
	p.op(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, bits, jt, jf)
	p.end(unix.SECCOMP_RET_ALLOW)
	p.end(unix.SECCOMP_RET_KILL_PROCESS)
}

// build makes the filter for the process with this id.
func build(pid uint32) program {
	var p program
	p.load(offArch)
	p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, auditArch, 1, 0)
	p.end(unix.SECCOMP_RET_KILL_PROCESS)
	p.load(offNumber)
	for _, n := range allowed {
		p.unless(n, 1)
		p.end(unix.SECCOMP_RET_ALLOW)
	}
	for _, d := range denied {
		p.unless(d[0], 1)
		p.end(unix.SECCOMP_RET_ERRNO | d[1])
	}
	// Memory is allowed, but none that can be executed, because everything is
	// compiled.
	for _, n := range []uint32{unix.SYS_MMAP, unix.SYS_MPROTECT} {
		p.when(n, func(p *program) { p.argument(2, unix.PROT_EXEC, false) })
	}
	// Threads are allowed, but no processes.
	p.when(unix.SYS_CLONE, func(p *program) { p.argument(0, unix.CLONE_THREAD, true) })
	// Signals are allowed only to this process, because the runtime preempts
	// its threads with them.
	p.when(unix.SYS_TGKILL, func(p *program) {
		p.load(offArgs)
		p.unless(pid, 1)
		p.end(unix.SECCOMP_RET_ALLOW)
		p.end(unix.SECCOMP_RET_KILL_PROCESS)
	})
	p.end(unix.SECCOMP_RET_KILL_PROCESS)
	return p
}

// filter installs the filter on every thread of the process.
func filter() (bool, error) {
	p := build(uint32(os.Getpid()))
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	// The calling thread itself must have given up new privileges.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := noNewPrivileges(); err != nil {
		return false, err
	}
	other, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(p)
	switch {
	case errors.Is(errno, unix.ENOSYS), errors.Is(errno, unix.EINVAL):
		return false, nil // this kernel has no seccomp
	case errno != 0:
		return false, fmt.Errorf("jail: seccomp: %w", errno)
	case other != 0:
		return false, fmt.Errorf("jail: seccomp: thread %d has another filter", other)
	}
	return true, nil
}
