// Package jail takes from processes what they do not need. What is taken can't be
// had back. A plugin's worker, which runs nothing but this program, confines itself:
//
//	Begin    first of all: no core file, bounds on memory and processor time, no
//	         new privileges
//	Confine  once everything is loaded, before any code of a plugin runs: no new
//	         file descriptor, no growing file, and on Linux a seccomp filter on
//	         every thread, which kills the process at any call of the system
//	         that the Go runtime doesn't need: no file, no network, no process,
//	         no signal to others, no memory that can be executed
//
// A program of others, such as one that decodes photos, is started from a confined
// thread:
//
//	Thread   no socket, no other process, no namespace (seccomp), and no file but
//	         those of a View (Landlock)
//
// The number of processes has no limit of its own: RLIMIT_NPROC counts the
// threads of everything that the wearer runs, so that one low enough to mean
// something stops the Go runtime. The filter lets no process be made.
package jail

import "fmt"

// Limits of a worker process, in bytes and seconds.
const (
	// MaxData bounds the memory that a worker process may write to: machine
	// code, heap and linear memories. Compiling a Go plugin of 2 MB takes 150
	// MB.
	MaxData = 1 << 30
	// MaxCPU ends a worker process that loops and is not killed. A healthy one
	// is replaced before that; see package wasm.
	MaxCPU = 3600
)

// Report says which restrictions are in force.
type Report struct {
	Limits     bool // on memory, processor time, descriptors, files
	Privileges bool // no new ones
	Seccomp    bool
}

// String names the restrictions in force, for a person: "limits, no new
// privileges, seccomp".
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
