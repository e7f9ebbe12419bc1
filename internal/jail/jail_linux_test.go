package jail

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attempts is what a plugin would try that took over its worker. Each reports whether it succeeded.
var attempts = map[string]func() bool{
	"open a file": func() bool {
		_, _, e := syscall.RawSyscall6(unix.SYS_OPENAT, ^uintptr(99), uintptr(unsafe.Pointer(&[]byte("/etc/passwd\x00")[0])), 0, 0, 0, 0)
		return e == 0
	},
	"open a socket": func() bool {
		_, _, e := syscall.RawSyscall(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0)
		return e == 0
	},
	"make a process": func() bool {
		pid, _, e := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if e == 0 && pid == 0 {
			syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		return e == 0
	},
	"run a program": func() bool {
		_, _, e := syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(&[]byte("/bin/true\x00")[0])), 0, 0)
		return e == 0
	},
	"signal its parent": func() bool {
		_, _, e := syscall.RawSyscall(unix.SYS_KILL, uintptr(os.Getppid()), 0, 0)
		return e == 0
	},
	"signal a thread of its parent": func() bool {
		ppid := uintptr(os.Getppid())
		_, _, e := syscall.RawSyscall(unix.SYS_TGKILL, ppid, ppid, 0)
		return e == 0
	},
	// Nothing has this id. A thread that let itself be traced (PTRACE_TRACEME) would keep its process
	// from being waited for, unless it were the first thread.
	"trace": func() bool {
		_, _, e := syscall.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_ATTACH, 1<<30, 0, 0, 0, 0)
		return e == syscall.ESRCH
	},
	"make memory executable": func() bool {
		_, _, e := syscall.RawSyscall6(unix.SYS_MMAP, 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE, ^uintptr(0), 0)
		return e == 0
	},
	"change a limit": func() bool {
		lim := unix.Rlimit{}
		return unix.Setrlimit(unix.RLIMIT_CORE, &lim) == nil
	},
}

// TestMain is also the process that confines itself.
func TestMain(m *testing.M) {
	name, confined := os.Getenv("JAIL_ATTEMPT"), os.Getenv("JAIL_CONFINE") != ""
	if name == "" {
		os.Exit(m.Run())
	}
	runtime.LockOSThread() // what is attempted runs on another thread
	if confined {
		if err := Begin(); err != nil {
			fmt.Println("FAILED", err)
			os.Exit(3)
		}
		r, err := Confine()
		if err != nil {
			fmt.Println("FAILED", err)
			os.Exit(3)
		}
		fmt.Printf("HELD %s\n", r)
	}
	if name == "work" {
		fmt.Println("WORKED", work())
		os.Exit(0)
	}
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		done <- attempts[name]()
	}()
	if <-done {
		fmt.Println("GOT IT")
	} else {
		fmt.Println("REFUSED")
	}
	os.Exit(0)
}

// work does what a worker does: threads, garbage, memory mappings.
func work() int {
	sums := make(chan int)
	for range 8 {
		go func() {
			runtime.LockOSThread()
			sum := 0
			for i := range 200 {
				sum += len(make([]byte, 64<<10+i))
			}
			sums <- sum
		}()
	}
	total := 0
	for range 8 {
		total += <-sums
	}
	runtime.GC()
	return total
}

func attempt(t *testing.T, name string, confined bool) (said string, killed bool) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{"JAIL_ATTEMPT=" + name}
	if confined {
		cmd.Env = append(cmd.Env, "JAIL_CONFINE=1")
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	st, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return out.String(), st.Signaled() && st.Signal() == syscall.SIGSYS
}

// TestConfined: each attempt ends a confined process, and succeeds without the filter.
func TestConfined(t *testing.T) {
	said, killed := attempt(t, "work", true)
	if killed || !strings.Contains(said, "WORKED") {
		t.Fatalf("a confined process can't work: killed %v, %s", killed, said)
	}
	if !strings.Contains(said, "seccomp") {
		t.Skip("this kernel, or this emulator, has no seccomp: " + said)
	}
	for name := range attempts {
		t.Run(name, func(t *testing.T) {
			said, killed := attempt(t, name, true)
			if !killed || strings.Contains(said, "GOT IT") {
				t.Errorf("killed %v, %s", killed, said)
			}
			said, killed = attempt(t, name, false)
			if killed {
				t.Errorf("without the filter: killed, %s", said)
			}
			if name != "run a program" && !strings.Contains(said, "GOT IT") { // a program that was run prints nothing
				t.Errorf("without the filter: %s", said)
			}
		})
	}
}

// TestReportRoundTrip: to bits and back.
func TestReportRoundTrip(t *testing.T) {
	for b := range byte(8) {
		r, err := FromBits(b)
		if err != nil || r.Bits() != b {
			t.Errorf("%#x: %+v, %v", b, r, err)
		}
	}
	if _, err := FromBits(8); err == nil {
		t.Error("8 was taken")
	}
}
