package e2e

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	night    = 8 * time.Hour
	nights   = 3 // at most that many pass
	soakZone = "Soak/Changes"
)

// clock is the clock of one process. A Go program asks the kernel for the time without the C
// library, so libfaketime has no effect on it. But it asks through the vDSO, a library that the
// kernel maps into each process. There the time is changed for one process, and its program is
// unchanged.
type clock struct {
	pid int
	at  int64 // address of the seconds by which it is ahead
}

// askAhead is clock_gettime for the vDSO of x86-64. The seconds by which the clock is ahead follow it.
var askAhead = []byte{
	0xb8, 0xe4, 0, 0, 0, // mov eax, 228: clock_gettime
	0x0f, 0x05, // syscall
	0x85, 0xff, // test edi, edi: is it CLOCK_REALTIME?
	0x75, 0x0e, // jnz to ret
	0x85, 0xc0, // test eax, eax: did it go well?
	0x75, 0x0a, // jnz to ret
	0x48, 0x8b, 0x0d, 10, 0, 0, 0, // mov rcx, [rip+10]: those seconds
	0x48, 0x01, 0x0e, // add [rsi], rcx
	0xc3,                               // ret
	0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, // so that the seconds are written at once
}

// startWith starts a program with a clock that can be set. It changes the vDSO before the program's
// first instruction. It needs root, because nodes let nobody else read their memory.
func startWith(cmd *exec.Cmd, ahead time.Duration) (*clock, error) {
	runtime.LockOSThread() // the tracer is a thread
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true} // it stops once it is loaded
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		return nil, fmt.Errorf("wait for %d to stop: %w", pid, err)
	}
	c, err := newClock(pid)
	if err == nil {
		err = c.set(ahead)
	}
	if err = errors.Join(err, syscall.PtraceDetach(pid)); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	}
	return c, err
}

// newClock changes the vDSO of a stopped process.
func newClock(pid int) (*clock, error) {
	if runtime.GOARCH != "amd64" {
		return nil, errors.New("a clock that can be set: there is no code for this processor")
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	var from, to int64
	for line := range strings.Lines(string(maps)) {
		if !strings.HasSuffix(line, "[vdso]\n") {
			continue
		}
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil {
			return nil, err
		}
	}
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer mem.Close()
	image := make([]byte, to-from)
	if _, err := mem.ReadAt(image, from); err != nil {
		return nil, fmt.Errorf("read the vDSO: %w", err)
	}
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return nil, err
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return nil, err
	}
	code := append(bytes.Clone(askAhead), make([]byte, 8)...)
	for _, y := range symbols {
		if y.Name == "__vdso_clock_gettime" && y.Size >= uint64(len(code)) && y.Value%8 == 0 {
			_, err := mem.WriteAt(code, from+int64(y.Value))
			return &clock{pid, from + int64(y.Value) + int64(len(askAhead))}, err
		}
	}
	return nil, errors.New("the vDSO has no clock_gettime that can be changed")
}

// set makes the clock d ahead, in whole seconds.
func (c *clock) set(d time.Duration) error {
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", c.pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer mem.Close()
	_, err = mem.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(int64(d/time.Second))), c.at)
	return err
}

// tellTime is the argument with which the tests' own program prints the time for each line.
const tellTime = "tell-time"

func tellsTime() {
	for line := bufio.NewScanner(os.Stdin); line.Scan(); {
		fmt.Println(time.Now().Unix())
	}
}

// The clock of one process is made wrong and right again, and its monotonic clock stays right.
func TestFakeClockOfOneProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0], tellTime)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c, err := startWith(cmd, 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewScanner(out)
	for _, off := range []time.Duration{24 * time.Hour, -24 * time.Hour, 0} {
		if err := c.set(off); err != nil {
			t.Fatal(err)
		}
		before := time.Now().Add(off).Unix()
		fmt.Fprintln(in)
		answers.Scan()
		got, err := strconv.ParseInt(answers.Text(), 10, 64)
		if after := time.Now().Add(off).Unix(); err != nil || got < before || got > after {
			t.Errorf("off by %v: %d, %v: want %d to %d", off, got, err, before, after)
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// begin returns how a process of the soak is started: it reports its collections, and has its own
// clock if possible.
func (s *soak) begin(p *proc) func(*exec.Cmd) error {
	return func(cmd *exec.Cmd) error {
		p.heap = collect(cmd)
		s.mu.Lock()
		defer s.mu.Unlock()
		if os.Geteuid() != 0 || runtime.GOARCH != "amd64" {
			s.logf("%s: a wrong clock: not there: it takes root, and an x86-64", p.name)
			return cmd.Start()
		}
		var err error
		p.clock, err = startWith(cmd, s.lived+p.off)
		return err
	}
}

// end kills a process.
func (s *soak) end(p *proc) {
	s.mu.Lock()
	p.clock = nil // the number may soon belong to another process
	s.mu.Unlock()
	p.kill()
}

// now is the time by a right clock.
func (s *soak) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.lived)
}

// shift makes the clock of p wrong by off.
func (s *soak) shift(p *proc, off time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.off = off
	s.set(p)
}

// pass lets d pass on all clocks.
func (s *soak) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lived+d > nights*night {
		return
	}
	s.lived += d
	for _, p := range s.procs {
		s.set(p)
	}
}

// set requires mu.
func (s *soak) set(p *proc) {
	if p.clock == nil { // it is down, and will start with the right time
		return
	}
	if err := p.clock.set(s.lived + p.off); err != nil {
		s.t.Errorf("%s: set the clock: %v", p.name, err)
	}
}

// makeZone makes a zone whose clocks alternately go an hour forward and back, eight times in the
// soak and for two weeks after it (TZif, RFC 8536, version 1).
func (s *soak) makeZone() {
	s.t.Helper()
	every := max(*soakFor/8, 20*time.Second)
	n := int(14 * 24 * time.Hour / every)
	b := append([]byte("TZif"), make([]byte, 16)...)
	for _, count := range []int{0, 0, 0, n, 2, 8} {
		b = binary.BigEndian.AppendUint32(b, uint32(count))
	}
	for i := range n {
		b = binary.BigEndian.AppendUint32(b, uint32(s.began.Add(time.Duration(i)*every).Unix()))
	}
	for i := range n {
		b = append(b, byte(1-i%2))
	}
	b = append(b, 0, 0, 0, 0, 0, 0)               // winter: UTC
	b = append(b, 0, 0, 3600>>8, 3600&0xff, 1, 4) // summer
	b = append(b, "WIN\x00SUM\x00"...)
	file := filepath.Join(s.zones, soakZone)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		s.t.Fatal(err)
	}
}
