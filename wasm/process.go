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

	"github.com/locket-dev/locket/wasm/internal/jail"
)

// errProcess is a worker that doesn't answer any more.
var errProcess = errors.New("no answer")

// loadTime bounds the start of a worker for each of its plugins: 8 MB of
// module take some seconds to compile on a small board.
const loadTime = 2 * time.Minute

// process is a worker as its host sees it. One request at a time.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr tail
	began  time.Time
	late   atomic.Bool // it was killed for it
	waited sync.Once
	err    error
}

// start runs a worker with these plugins, and waits until they are ready.
// failures has for each why it is not.
func (d *domain) start(ctx context.Context, plugins []*Plugin) (_ *process, held jail.Report, failures []error, err error) {
	proc, err := d.host.spawn()
	if err != nil {
		return nil, held, nil, err
	}
	stop := context.AfterFunc(ctx, proc.kill)
	defer stop()
	failures = make([]error, len(plugins))
	if held, err = d.fill(proc, plugins, failures); err != nil {
		_ = proc.end() // what it said before is the error
		if ctx.Err() != nil {
			return nil, held, nil, ctx.Err()
		}
		return nil, held, nil, fmt.Errorf("%w: as it started: %w %s", ErrWorker, err, proc.said())
	}
	d.starts++
	return proc, held, failures, nil
}

// fill loads the plugins into a worker, and has it begin.
func (d *domain) fill(proc *process, plugins []*Plugin, failures []error) (held jail.Report, err error) {
	var caches []*entry
	for i, p := range plugins {
		module, err := p.module()
		if err != nil {
			failures[i] = err
			module = nil
		}
		c, err := d.host.cacheEntry(module, p.limits)
		if err != nil {
			return held, err
		}
		caches = append(caches, c)
		p.load(&d.request, module, c.path(), d.host.opt.Interpret)
		if err := proc.ask(&d.request, &d.reply, frameLoaded, loadTime); err != nil {
			return held, err
		}
		if err := d.reply.getFail(p.manifest.ID); err != nil && failures[i] == nil {
			failures[i] = err
		}
		if err := d.reply.end(); err != nil {
			return held, err
		}
	}
	// Nothing of the plugins has run: what is in the cache is the compiler's.
	for _, c := range caches {
		if err := c.seal(); err != nil {
			return held, err
		}
	}
	d.request.begin(frameBegin)
	if err := proc.ask(&d.request, &d.reply, frameBegun, loadTime); err != nil {
		return held, err
	}
	if held, err = jail.FromBits(d.reply.getU8()); err != nil {
		return held, err
	}
	for i, p := range plugins {
		if err := d.reply.getFail(p.manifest.ID); err != nil && failures[i] == nil {
			failures[i] = err
		}
	}
	return held, d.reply.end()
}

// load writes the frame that gives the plugin to a worker.
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

// spawn starts the process: an empty environment, the root as its folder, no
// descriptor but three pipes.
func (h *Host) spawn() (*process, error) {
	proc := &process{began: time.Now()}
	cmd := exec.Command(h.opt.Worker[0], h.opt.Worker[1:]...)
	cmd.Env, cmd.Dir, cmd.Stderr = []string{}, string(os.PathSeparator), &proc.stderr
	cmd.WaitDelay = time.Second
	apart(cmd)
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
	proc.cmd, proc.in, proc.out = cmd, in, bufio.NewReaderSize(out, 64<<10)
	return proc, nil
}

// ask sends a request and waits for its reply, of this kind. After limit the
// process is killed. Errors wrap errProcess or errFrame.
func (p *process) ask(request, reply *frame, kind byte, limit time.Duration) error {
	w := watch(limit, p.used, func() { p.late.Store(true); p.kill() })
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
	case w.stop(): // as it answered: who asks next must not find it dead
		return errProcess
	}
	return nil
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

// said is the first line of what the process wrote on standard error.
func (p *process) said() string {
	line, _, _ := strings.Cut(p.stderr.String(), "\n")
	if line == "" && p.cmd.ProcessState != nil {
		line = p.cmd.ProcessState.String()
	}
	return printable(line)
}

// tail keeps the beginning of what is written to it, and lets the rest go.
type tail struct {
	mu sync.Mutex
	b  []byte
}

// keptStderr is how much of it: the first line tells of a death.
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
