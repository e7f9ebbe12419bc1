package wasm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/jail"
	"github.com/locket-dev/locket/wasm/abi"
)

// WorkerName is the only argument of a worker process. A program whose host has workers has to call
// IsWorker before anything else.
const WorkerName = "plugin-worker"

// IsWorker reports whether this process was started as a worker.
func IsWorker(args []string) bool { return len(args) == 2 && args[1] == WorkerName }

// ServeWorker runs a worker: it loads plugins, applies its restrictions, and answers calls until
// its input ends. It returns the exit code.
func ServeWorker(stdin io.Reader, stdout, stderr io.Writer) int {
	if err := serveWorker(stdin, stdout); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// workerHeap is the heap size, in bytes, from which a worker collects more eagerly.
const workerHeap = 256 << 20

func serveWorker(stdin io.Reader, stdout io.Writer) error {
	if err := jail.Begin(); err != nil {
		return err
	}
	debug.SetMemoryLimit(workerHeap)
	runtime.GOMAXPROCS(1) // one call at a time
	w := &serving{in: bufio.NewReaderSize(stdin, 64<<10), out: stdout}
	if err := w.load(); err != nil {
		return err
	}
	if err := w.begin(); err != nil {
		return err
	}
	for {
		kind, err := w.frame.receive(w.in, maxToWorker)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && kind != frameCall {
			err = errFrame
		}
		if err == nil {
			err = w.call()
		}
		if err != nil {
			return err
		}
	}
}

// serving is a running worker.
type serving struct {
	in      *bufio.Reader
	out     io.Writer
	frame   frame // the received frame
	reply   frame
	host    *Host
	plugins []*Plugin // nil: it could not be loaded
}

// load takes plugins until it is told to begin. They are compiled, and none of their code runs.
func (w *serving) load() error {
	for {
		kind, err := w.frame.receive(w.in, maxToWorker)
		switch {
		case err != nil:
			return err
		case kind == frameBegin:
			return w.frame.end()
		case kind != frameLoad:
			return errFrame
		}
		p, err := w.loadOne()
		if errors.Is(err, errFrame) {
			return err
		}
		w.plugins = append(w.plugins, p)
		w.reply.begin(frameLoaded).fail(err)
		if err := w.reply.send(w.out); err != nil {
			return err
		}
	}
}

func (w *serving) loadOne() (*Plugin, error) {
	f := &w.frame
	m := Manifest{ID: f.getStr()}
	for range f.count(4) {
		m.Capabilities = append(m.Capabilities, Capability(f.getStr()))
	}
	settings := map[string]string{}
	for range f.count(8) {
		k := f.getStr()
		settings[k] = f.getStr()
	}
	cache, module := f.getStr(), slices.Clone(f.getBytes())
	m.Limits = Limits{MemoryMiB: int(f.getU32()), Fuel: int64(f.getU64()), TimeMS: int(f.getU32()), OutputKiB: int(f.getU32()), Candidates: abi.MaxCandidates}
	interpret := f.getFlag()
	if err := f.end(); err != nil {
		return nil, err
	}
	ctx := context.Background()
	if w.host == nil {
		var err error
		if w.host, err = NewHost(ctx, Options{Idle: -1, Instances: 1, Interpret: interpret}); err != nil {
			return nil, err
		}
	}
	p := w.host.shell(m, settings)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p, p.compileIn(ctx, module, cache)
}

// begin drops what is not needed any more, and starts an instance of each plugin.
func (w *serving) begin() error {
	debug.FreeOSMemory()
	held, err := jail.Confine()
	if err != nil {
		return err
	}
	w.reply.begin(frameBegun).u8(held.Bits())
	for _, p := range w.plugins {
		if p == nil || p.code == nil {
			w.reply.fail(ErrModule)
			continue
		}
		in, err := p.acquire(context.Background())
		if err == nil {
			p.put(in)
		}
		w.reply.fail(err)
	}
	return w.reply.send(w.out)
}

func (w *serving) call() error {
	f := &w.frame
	n, at, id, input := f.getU32(), int64(f.getU64()), f.getStr(), f.getBytes()
	if err := f.end(); err != nil {
		return err
	}
	if int(n) >= len(w.plugins) || w.plugins[n] == nil || w.plugins[n].code == nil {
		return errFrame
	}
	p := w.plugins[n]
	p.logs.clear()
	in, err := p.acquire(context.Background())
	var a answer
	var u Usage
	if err == nil {
		a, u, err = in.call(input, at, id)
	}
	status := byte(answerNothing)
	switch {
	case err != nil:
		status = answerFault
	case a.failed:
		status = answerError
	case a.bytes != nil:
		status = answerOutput
	}
	r := w.reply.begin(frameAnswer)
	r.u8(status)
	r.u64(uint64(u.Fuel))
	r.u64(uint64(u.Time))
	r.u64(uint64(u.Memory))
	r.u32(uint32(u.Lines))
	r.flag(u.Fresh)
	lines := p.logs.lines()
	r.u32(uint32(len(lines)))
	for _, l := range lines {
		r.str(l)
	}
	if status == answerFault {
		r.fail(err)
	} else {
		r.bytes(a.bytes)
	}
	if err := r.send(w.out); err != nil {
		return err
	}
	// While the host reads the answer.
	switch {
	case in == nil:
	case err != nil:
		return p.discard(context.Background(), in)
	default:
		p.put(in)
	}
	return nil
}

// printable makes a text from outside safe to show.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// self returns the path of this program, to run it again.
func self() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil // the same file, even if another one has its name by now
	}
	return os.Executable()
}

// SelfWorker is the command that runs this program as a worker, for Options.Worker; the program has
// to begin with IsWorker and ServeWorker.
func SelfWorker() ([]string, error) {
	exe, err := self()
	if err != nil {
		return nil, fmt.Errorf("find this program for its worker: %w", err)
	}
	return []string{exe, WorkerName}, nil
}
