package e2e

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/freeport"
)

const (
	soakPatience = 15 * time.Minute
	diskNode     = 1 // the node whose disk can be filled
	// A slow link has a latency of 200 ms, and delays one piece in twenty like a retransmission.
	slowDelay, slowAgain, slowOf = 200 * time.Millisecond, time.Second, 20
)

// proc is a process of the soak.
type proc struct {
	name  string
	pid   func() int
	kill  func()
	start func() error
	quit  func()        // ends it and makes it print its goroutines
	log   func() string // at least of its last run

	may     growth
	plugins func() (mb float64, ok bool) // nil: it has none

	turn    sync.Mutex   // held while it is killed or stopped
	samples []sample     // guarded by turn
	heap    *collections // of its last run; guarded by turn

	wrong sync.Mutex    // held while its clock is wrong
	clock *clock        // nil: it is down, or has no clock of its own; guarded by soak.mu
	off   time.Duration // of this clock only; guarded by soak.mu
}

// suffer makes random faults happen, some at the same time, until the time is over and all are
// repaired.
func (s *soak) suffer() {
	r := rand.New(rand.NewPCG(*soakSeed, 2))
	unit := max(2*time.Second, min(*soakFor/30, time.Minute))
	var all sync.WaitGroup
	count := map[string]int{}
	for end := time.Now().Add(*soakFor); time.Now().Before(end); {
		wait(time.Duration(r.Int64N(int64(unit))))
		length := unit/2 + time.Duration(r.Int64N(int64(2*unit)))
		what, do := s.draw(r, length)
		count[what]++
		all.Go(do)
	}
	all.Wait()
	s.logf("seed %d: %v; %v by the clocks", *soakSeed, count, (time.Since(s.began) + s.lived).Round(time.Minute))
}

// draw draws a fault. The first node and the first relay are never killed: their memory is observed
// through the whole soak.
func (s *soak) draw(r *rand.Rand, length time.Duration) (what string, do func()) {
	p := s.procs[r.IntN(len(s.procs))]
	n, i := s.nodes[r.IntN(len(s.nodes))], r.IntN(1<<30)
	during := func(what string) func() {
		s.logf("%s for %v", what, length.Round(time.Second/10))
		return func() { s.logf("%s: over", what) }
	}
	onLink := func(what string, fail func(time.Duration)) func() {
		return func() {
			n.link.turn.Lock()
			defer n.link.turn.Unlock()
			defer during(what + ": " + n.name)()
			fail(length)
		}
	}
	switch r.IntN(8) {
	case 0:
		return "cut", onLink("cut", n.link.cut)
	case 1:
		return "silence", onLink("silence", n.link.silence)
	case 2:
		return "slow", onLink("slow", n.link.slowly)
	case 3:
		return "clock", func() {
			p.wrong.Lock()
			defer p.wrong.Unlock()
			off := []time.Duration{-24 * time.Hour, 24 * time.Hour}[i%2]
			defer during(fmt.Sprintf("clock: %s is off by %v", p.name, off))()
			s.shift(p, off)
			wait(length)
			s.shift(p, 0)
		}
	case 4:
		return "suspend", func() {
			p.turn.Lock()
			defer p.turn.Unlock()
			defer during("suspend: " + p.name)()
			s.signal(p, syscall.SIGSTOP)
			wait(length)
			s.pass(night)
			s.signal(p, syscall.SIGCONT)
		}
	case 5:
		for p.name == "node-0" || p.name == "relay-0" {
			p = s.procs[r.IntN(len(s.procs))]
		}
		return "kill", func() {
			p.turn.Lock()
			defer p.turn.Unlock()
			defer during("kill: " + p.name)()
			s.end(p)
			wait(length / 4)
			err := p.start()
			for end := time.Now().Add(soakPatience); err != nil && time.Now().Before(end); err = p.start() {
				s.logf("%s does not start, and is tried again, as a supervisor would: %v", p.name, err) // with less than 10 MB free it does not start
				wait(time.Second)
			}
			if err != nil {
				s.t.Errorf("%s does not start again: %v", p.name, err)
			}
		}
	case 6:
		if len(s.disks) == 0 {
			return "no disk", func() {}
		}
		left, d := []int{0, 20 << 20}[i%2], s.disks[i/2%len(s.disks)]
		return "disk", func() {
			d.full.Lock()
			defer d.full.Unlock()
			defer during(fmt.Sprintf("disk: %s has %d bytes left", d.whose, left))()
			if err := d.fill(left); err != nil {
				s.logf("disk: not filled: %v", err)
			}
			wait(length)
			if err := os.Remove(d.ballast()); err != nil {
				s.t.Error(err)
			}
		}
	default:
		return "database", func() {
			s.restart.Lock()
			defer s.restart.Unlock()
			defer during("database")()
			if err := s.database.Kill(); err != nil {
				s.t.Error(err)
			}
			wait(length / 4)
			if err := s.database.Restart(s.t.Context()); err != nil {
				s.t.Error(err)
			}
		}
	}
}

func (s *soak) signal(p *proc, sig syscall.Signal) {
	if err := syscall.Kill(p.pid(), sig); err != nil {
		s.t.Errorf("%s: %v: %v", p.name, sig, err)
	}
}

// smallDisk is a disk that can be filled.
type smallDisk struct {
	whose string
	dir   string
	full  sync.Mutex // held while it is full
}

// newSmallDisk mounts a disk, which needs root. Without root it is a folder, and is not filled.
func (s *soak) newSmallDisk(whose string) *smallDisk {
	s.t.Helper()
	d := &smallDisk{whose: whose, dir: s.t.TempDir()}
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, "size=600m"); err != nil {
		s.logf("full disk: not there: it takes root: %v", err)
		return d
	}
	s.t.Cleanup(func() {
		if err := syscall.Unmount(d.dir, syscall.MNT_DETACH); err != nil {
			s.t.Error(err)
		}
	})
	s.disks = append(s.disks, d)
	return d
}

// take copies a home to the disk.
func (d *smallDisk) take(t *testing.T, home string) string {
	t.Helper()
	to := filepath.Join(d.dir, filepath.Base(home))
	if out, err := exec.Command("cp", "-a", home, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return to
}

func (d *smallDisk) ballast() string { return filepath.Join(d.dir, "ballast") }

// fill leaves left bytes on the disk.
func (d *smallDisk) fill(left int) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(d.dir, &fs); err != nil {
		return err
	}
	f, err := os.Create(d.ballast())
	if err != nil {
		return err
	}
	defer f.Close()
	free := int64(fs.Bavail) * fs.Bsize
	if _, err = io.CopyN(f, zeros{}, max(0, free-int64(left))); errors.Is(err, syscall.ENOSPC) { // its owner used some meanwhile
		return nil
	}
	return err
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// newOpenBroker starts a broker that admits everyone, because a thousand devices need no passwords
// here.
func newOpenBroker(t *testing.T) *mosquitto {
	t.Helper()
	m := &mosquitto{t: t, dir: t.TempDir()}
	m.port = freeport.Port(t)
	m.write("conf", "listener "+m.port+" 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n")
	m.start()
	t.Cleanup(m.stop)
	return m
}

func (m *mosquitto) plain() string { return "tcp://127.0.0.1:" + m.port }

// link is a node's connection to its relay, a TCP proxy that can fail.
type link struct {
	addr, target string

	turn sync.Mutex // held while it fails

	mu    sync.Mutex
	conns map[net.Conn]bool
	isCut bool
	quiet chan struct{} // until it is closed nothing gets through, silently; nil: everything does
	slow  bool
}

func newLink(t *testing.T, target string) *link {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{addr: ln.Addr().String(), target: target, conns: map[net.Conn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() { l.carry(c) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		l.end(true)
		all.Wait()
	})
	return l
}

// keep registers a connection, so that a cut ends it, unless the link is cut already.
func (l *link) keep(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c] = true
	return !l.isCut
}

func (l *link) drop(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
	c.Close()
}

func (l *link) carry(from net.Conn) {
	defer l.drop(from)
	if !l.keep(from) {
		return
	}
	to, err := net.Dial("tcp", l.target)
	if err != nil {
		return
	}
	defer l.drop(to)
	if !l.keep(to) {
		return
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		both.Go(func() {
			defer way[0].Close()
			defer way[1].Close()
			b := make([]byte, 32<<10)
			for {
				n, err := way[0].Read(b)
				l.mu.Lock()
				quiet, slow := l.quiet, l.slow
				l.mu.Unlock()
				if quiet != nil {
					<-quiet
				}
				if slow {
					wait(slowDelay)
					if rand.IntN(slowOf) == 0 {
						wait(slowAgain)
					}
				}
				if _, werr := way[1].Write(b[:n]); err != nil || werr != nil {
					return
				}
			}
		})
	}
	both.Wait()
}

// end ends all connections; with cut, it accepts no new ones.
func (l *link) end(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = cut
	for c := range l.conns {
		c.Close()
	}
}

func (l *link) cut(d time.Duration) {
	l.end(true)
	wait(d)
	l.end(false)
}

func (l *link) silence(d time.Duration) {
	quiet := make(chan struct{})
	l.mu.Lock()
	l.quiet = quiet
	l.mu.Unlock()
	wait(d)
	close(quiet) // later connections do not wait
}

func (l *link) slowly(d time.Duration) {
	l.mu.Lock()
	l.slow = true
	l.mu.Unlock()
	wait(d)
	l.mu.Lock()
	l.slow = false
	l.mu.Unlock()
}
