package wasm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/internal/jail"
)

// errProcess: a worker does not answer any more.
var errProcess = errors.New("no answer")

// loadTime limits the start of a worker, for each of its plugins: 10 MB of module take some seconds
// to compile on a small board.
const loadTime = 2 * time.Minute

// process is the host's side of a worker. It handles one request at a time.
type process struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	pipe     io.Closer // the writer under out
	out      *bufio.Reader
	stderr   tail
	began    time.Time    // for systems other than Linux; see used
	late     atomic.Int64 // when it was killed for being late, in ns of Unix time; 0: it was not
	starved  atomic.Bool  // it was late because it got no processor
	held     jail.Report
	failures []error // why each plugin is not ready, by the plugin's number
	waited   sync.Once
	err      error
}

// rank is a worker's priority for the processors, relative to the node.
type rank int

// The ranks below the node's own, with which every worker but a spare one begins.
const (
	rankSpare rank = iota // it is made while another one works
	rankLong              // its call has become a long one: it gets what others leave
	rankLate              // another long call after a late one: it gets what nobody else wants
)

// start runs a worker with these plugins, and waits until they are ready.
func (d *domain) start(ctx context.Context, plugins []*Plugin, spare bool) (*process, error) {
	proc, err := d.host.spawn()
	if err != nil {
		return nil, err
	}
	if spare {
		proc.lower(rankSpare)
	}
	stop := context.AfterFunc(ctx, proc.kill)
	defer stop()
	proc.failures = make([]error, len(plugins))
	if err = d.fill(proc, plugins); err != nil {
		_ = proc.end() // its earlier message is the error
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: as it started: %w %s", ErrWorker, err, proc.stderrLine())
	}
	d.starts.Add(1)
	return proc, nil
}

// fill loads the plugins into a worker, and makes it begin.
func (d *domain) fill(proc *process, plugins []*Plugin) (err error) {
	var request, reply frame // a call of another process may be running
	failures := proc.failures
	var caches []*entry
	defer func() {
		for _, c := range caches {
			err = errors.Join(err, c.close())
		}
	}()
	for i, p := range plugins {
		module, err := p.module()
		if err != nil {
			failures[i] = err
			module = nil
		}
		c, err := d.host.cacheEntry(module, p.limits)
		if err != nil {
			return err
		}
		caches = append(caches, c)
		p.load(&request, module, c.path(), d.host.opt.Interpret)
		if err := proc.ask(&request, &reply, frameLoaded, loadTime, nil); err != nil {
			return err
		}
		if err := reply.getFail(p.manifest.ID); err != nil && failures[i] == nil {
			failures[i] = err
		}
		if err := reply.end(); err != nil {
			return err
		}
	}
	// No plugin has run yet, so the cache only contains what the compiler wrote.
	for _, c := range caches {
		if err := c.seal(); err != nil {
			return err
		}
	}
	request.begin(frameBegin)
	if err := proc.ask(&request, &reply, frameBegun, loadTime, nil); err != nil {
		return err
	}
	if proc.held, err = jail.FromBits(reply.getU8()); err != nil {
		return err
	}
	for i, p := range plugins {
		if err := reply.getFail(p.manifest.ID); err != nil && failures[i] == nil {
			failures[i] = err
		}
	}
	return reply.end()
}

// load writes the frame that sends the plugin to a worker.
func (p *Plugin) load(f *frame, module []byte, cache string, interpret bool) {
	f.begin(frameLoad).str(p.manifest.ID)
	f.u32(uint32(len(p.manifest.Capabilities)))
	for _, c := range p.manifest.Capabilities {
		f.str(string(c))
	}
	f.u32(uint32(len(p.settings)))
	for k, v := range p.settings {
		f.str(k)
		f.str(v)
	}
	f.str(cache)
	f.bytes(module)
	f.u32(uint32(p.limits.MemoryMiB))
	f.u64(uint64(p.limits.Fuel))
	f.u32(uint32(p.limits.TimeMS))
	f.u32(uint32(p.limits.OutputKiB))
	f.flag(interpret)
}

// spawn starts the process: an empty environment, the root as its folder, and no descriptors except
// three pipes.
func (h *Host) spawn() (*process, error) {
	proc := &process{began: time.Now()}
	cmd := exec.Command(h.opt.Worker[0], h.opt.Worker[1:]...)
	cmd.Env, cmd.Dir, cmd.Stderr = []string{}, string(os.PathSeparator), &proc.stderr
	cmd.WaitDelay = time.Second
	ownProcessGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWorker, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWorker, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWorker, err)
	}
	widen(in, out)
	proc.cmd, proc.in, proc.pipe, proc.out = cmd, in, out, bufio.NewReaderSize(out, 64<<10)
	return proc, nil
}

// ask sends a request and waits for its reply, of this kind. After limit the process is killed;
// before that, long is called as soon as the request is a long one; long may be nil. Errors wrap
// errProcess or errFrame.
func (p *process) ask(request, reply *frame, kind byte, limit time.Duration, long func()) error {
	w := watch(limit, watched{used: p.used, waited: p.queued, tire: long, bite: func(starved bool) {
		p.late.Store(time.Now().UnixNano())
		p.starved.Store(starved)
		p.kill()
		// The process ends by itself, perhaps slowly; nobody waits for it.
		p.in.Close()
		p.pipe.Close()
	}})
	defer w.stop()
	if err := request.send(p.in); err != nil {
		return fmt.Errorf("%w: %w", errProcess, err)
	}
	got, err := reply.receive(p.out, maxFromWorker)
	switch {
	case errors.Is(err, errFrame):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", errProcess, err)
	case got != kind:
		return errFrame
	case w.stop(): // it answered at the last moment: the next caller must not find it dead
		return errProcess
	}
	return nil
}

// ended returns when the process was killed for being late; zero: it was not.
func (p *process) ended() (at time.Time) {
	if ns := p.late.Load(); ns != 0 {
		at = time.Unix(0, ns)
	}
	return at
}

func (p *process) kill() { _ = p.cmd.Process.Kill() } // it may have ended

// end kills the process and waits until it is gone. It is safe to call twice.
func (p *process) end() error {
	p.waited.Do(func() {
		p.kill()
		p.in.Close()
		var exit *exec.ExitError
		if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
			p.err = fmt.Errorf("%w: %w", ErrWorker, err)
		}
	})
	return p.err
}

// stderrLine returns the first line that the process wrote to standard error.
func (p *process) stderrLine() string {
	line, _, _ := strings.Cut(p.stderr.String(), "\n")
	if line == "" && p.cmd.ProcessState != nil {
		line = p.cmd.ProcessState.String()
	}
	return printable(line)
}

// tail keeps the beginning of what is written to it, and drops the rest.
type tail struct {
	mu sync.Mutex
	b  []byte
}

// keptStderr is how much is kept: the first line tells why a process died.
const keptStderr = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[:min(len(p), keptStderr-len(t.b))]...)
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
