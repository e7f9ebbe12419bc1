// Package nodump prevents that the system writes the memory of a process to a
// file, and that other processes read it.
//
// A core dump is a file with everything that a process had in memory when it
// failed. After Protect there is none, and only root can read the memory
// (ptrace, /proc/PID/mem); other programs of the same user can't.
package nodump

// Protect prevents dumps of this process from now on. Child processes that run
// another program are not protected, except for the limit on the size of a
// dump, which they inherit.
func Protect() error { return protect() }

// Allow reverts Protect, for a person who looks for an error. Dumps then have
// the size limit with which this process began.
func Allow() error { return allow() }
