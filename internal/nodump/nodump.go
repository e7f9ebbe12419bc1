// Package nodump keeps what a process has in memory out of files that the
// system writes of it, and out of other processes' sight.
//
// A core dump is a file with everything that a process had in memory when it
// failed. Where Protect was called there is none, and nobody but root reads the
// memory (ptrace, /proc/PID/mem), other programs of the same user neither.
package nodump

// Protect has the system write no dump of this process from now on. Child
// processes that run another program begin with what that says of itself, but
// for the limit on the size of a dump, which they inherit.
func Protect() error { return protect() }

// Allow takes Protect back, for whoever looks for an error: dumps are then as
// large as the limit that this process began with said.
func Allow() error { return allow() }
