// Package jail takes away rights that processes do not need. They can't get them back. A plugin's
// worker, which only runs this program, confines itself:
//
//	Begin  first of all: no core file, limits on memory and processor time, no
//	         new privileges
//	Confine  once everything is loaded, before any code of a plugin runs: no new
//	         file descriptor, no growing file, and on Linux a seccomp filter on
//	         every thread, which kills the process at any system call
//	         that the Go runtime does not need: no file, no network, no process,
//	         no signal to others, no memory that can be executed
//
// A third-party program, such as one that decodes photos, is started from a confined thread:
//
//	Thread   no socket, no other process, no namespace (seccomp), and no file but
//	         those of a View (Landlock)
//
// The number of processes has no limit of its own: RLIMIT_NPROC counts the threads of everything
// that the wearer runs, so a limit low enough to be useful would stop the Go runtime. The filter
// allows no new process.
package jail

import "fmt"

// Limits of a worker process, in bytes and seconds.
const (
	// MaxData limits the memory to which a worker process may write: machine code, heap and linear
	// memories. Compiling a Go plugin of 2 MB takes 150 MB.
	MaxData = 1 << 30
	// MaxCPU ends a worker process that loops and is not killed. A healthy one
	// is replaced before that; see package wasm.
	MaxCPU = 3600
)

// Report says which restrictions are applied.
type Report struct {
	Limits     bool // on memory, processor time, descriptors, files
	Privileges bool // no new privileges
	Seccomp    bool
}

// String names the applied restrictions, for a person: "limits, no new privileges, seccomp".
func (r Report) String() string {
	s := "a process of its own"
	for _, have := range []struct {
		ok   bool
		name string
	}{{r.Limits, "limits"}, {r.Privileges, "no new privileges"}, {r.Seccomp, "seccomp"}} {
		if have.ok {
			s += ", " + have.name
		}
	}
	return s
}

// Bits packs a report into a byte, for the wire.
func (r Report) Bits() (b byte) {
	for i, v := range []bool{r.Limits, r.Privileges, r.Seccomp} {
		if v {
			b |= 1 << i
		}
	}
	return b
}

// FromBits reverses Bits.
func FromBits(b byte) (Report, error) {
	if b > 7 {
		return Report{}, fmt.Errorf("jail: report %#x", b)
	}
	return Report{b&1 != 0, b&2 != 0, b&4 != 0}, nil
}
