package wasm

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ownProcessGroup puts the process into a group of its own, so that signals from the terminal only reach its
// host.
func ownProcessGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// pipeSize is the greatest size for an unprivileged process (pipe(7)), so that an event of 200 KB
// is written in one piece.
const pipeSize = 1 << 20

func widen(in io.WriteCloser, out io.ReadCloser) {
	for _, e := range []any{in, out} {
		if f, ok := e.(*os.File); ok {
			if c, err := f.SyscallConn(); err == nil {
				// A smaller pipe is only slower.
				_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
			}
		}
	}
}

// used is the processor time of the process so far; its clock's number is derived from its id
// (clock_getcpuclockid(3)).
func (p *process) used() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^p.cmd.Process.Pid<<3|2), &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// tasks returns the folder of the process's threads.
func (p *process) tasks() string { return fmt.Sprintf("/proc/%d/task", p.cmd.Process.Pid) }

// queued is how long its threads have been ready without a processor so far (schedstat: ns on a
// processor, ns waiting for one, turns). 0 if the kernel doesn't count.
func (p *process) queued() (sum time.Duration) {
	files, _ := filepath.Glob(p.tasks() + "/*/schedstat") // without any thread: 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // it has ended
		}
		var ran, waited int64
		if _, err := fmt.Fscan(strings.NewReader(string(b)), &ran, &waited); err == nil {
			sum += time.Duration(waited)
		}
	}
	return sum
}

// shortSlice makes time slices so short that a thread that wakes up need not wait: the minimum,
// since Linux 6.12.
const shortSlice = 100 * time.Microsecond

// ranks are the kernel's settings for a rank. Nice 10 has a tenth of the node's weight, nice 19 a
// seventieth, the lowest of the ordinary ones (sched(7)). SCHED_IDLE has three thousandths; a
// processor that runs nothing else counts as idle, so threads that wake up are put there, and not
// behind another.
var ranks = [...]unix.SchedAttr{
	rankSpare: {Policy: unix.SCHED_BATCH, Nice: 10, Runtime: uint64(shortSlice)},
	rankLong:  {Policy: unix.SCHED_BATCH, Nice: 19, Runtime: uint64(shortSlice)},
	rankLate:  {Policy: unix.SCHED_IDLE, Nice: 19},
}

// lower gives the process this rank, for good: an ordinary process can't raise its own priority.
// Its id stays its own until it is waited for. After a failure the rank stays as it was.
func (p *process) lower(to rank) {
	pid, attr := p.cmd.Process.Pid, ranks[to]
	attr.Size = unix.SizeofSchedAttr
	// For each thread of its group, which is its own.
	_ = unix.Setpriority(unix.PRIO_PGRP, pid, int(attr.Nice))
	for seen := 0; ; { // a thread that is created meanwhile inherits the rank of its creator
		threads, err := os.ReadDir(p.tasks())
		if err != nil || len(threads) <= seen {
			return
		}
		seen = len(threads)
		for _, t := range threads {
			var tid int
			if _, err := fmt.Sscan(t.Name(), &tid); err == nil {
				_ = unix.SchedSetAttr(tid, &attr, 0)
			}
		}
	}
}
