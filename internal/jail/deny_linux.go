//go:build linux && (amd64 || arm64 || riscv64 || arm)

package jail

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refused lists the calls for which a program gets an error: sockets, and other ways of creating
// them; reading or changing other processes; the user's keys; mounts and namespaces; loading code
// into the kernel.
var refused = []uint32{
	unix.SYS_SOCKET, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_PIDFD_GETFD,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_FSOPEN, unix.SYS_FSMOUNT,
	unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_BPF, unix.SYS_USERFAULTFD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD,
}

// namespaces are the flags of clone(2) that create namespaces.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// x32 is the bit in the calls of the x32 ABI, which amd64 has in addition to its own.
const x32 = 0x40000000

// refusals makes a program's filter. Calls that it does not name are allowed.
func refusals() program {
	var p program
	p.load(offArch)
	p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, auditArch, 1, 0)
	p.end(unix.SECCOMP_RET_KILL_PROCESS)
	p.load(offNumber)
	p.op(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, x32, 0, 1)
	p.end(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS))
	for _, n := range refused {
		p.unless(n, 1)
		p.end(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
	}
	p.unless(unix.SYS_CLONE3, 1) // its flags are in memory; a C library falls back to clone
	p.end(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS))
	p.when(unix.SYS_CLONE, func(p *program) {
		p.load(offArgs)
		p.op(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, namespaces, 0, 1)
		p.end(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
		p.end(unix.SECCOMP_RET_ALLOW)
	})
	p.end(unix.SECCOMP_RET_ALLOW)
	return p
}

// canDeny reports whether the kernel has filters with errors (seccomp(2)).
func canDeny() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}

// deny installs the filter on the calling thread.
func deny() error {
	p := refusals()
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(p)
	if errno != 0 {
		return fmt.Errorf("jail: seccomp: %w", errno)
	}
	return nil
}
