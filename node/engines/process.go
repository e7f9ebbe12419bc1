package engines

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/memory"
)

// idle is how long a process without work keeps running.
const idle = time.Minute

// Process runs engines: it is this program, started a second time. It is started with the
// first job and again if it died, and is ended when there is nothing to do. The zero value
// with a Command works. Its methods are safe for concurrent use; jobs are done one at a time.
type Process struct {
	Command []string // the program with its arguments: see [Self]
	Runs    string   // folder for the runs of programs; empty: the system's
	// Langs are the languages that are spoken around the wearer, BCP 47; empty: unknown. If
	// there is only one, ears are told that recordings are in that language.
	Langs []string

	mu    sync.Mutex // held during a job
	run   *running   // nil: no process is running
	quiet *time.Timer
}

// Self returns the command that starts this program as an engine's process. The program has to
// begin with [IsProcess] and [ServeProcess].
func Self() ([]string, error) {
	if runtime.GOOS == "linux" {
		return []string{"/proc/self/exe", ProcessName}, nil // this very file, even if another file has its name by now
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program for its engines: %w", err)
	}
	return []string{exe, ProcessName}, nil
}

// RunsFolder returns a folder for the runs of one home's programs. It is in memory if the
// system has such a place, because a program may be given sound as a file.
func RunsFolder(home string) string {
	sum := sha256.Sum256([]byte(home))
	name := "locket-engines-" + hex.EncodeToString(sum[:8])
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
			return filepath.Join(dir, name)
		}
	}
	return filepath.Join(home, "engine-runs")
}

// running is a running process.
type running struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said tail
}

// Do makes an engine work on a source or a series, in the process. An error is an
// *engine.Fault, memory.ErrNotFound if a photo of a series is gone, or that of ctx.
func (p *Process) Do(ctx context.Context, j Job) (a result.Answer, err error) {
	ctx, work := span.Ask(ctx, "engine")
	defer func() { work.End(err) }()
	switch j.Spec.Kind {
	case Ears:
		work.Note("locket.engine", "ears")
	case Eyes:
		work.Note("locket.engine", "eyes")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return a, err
	}
	if p.quiet != nil {
		p.quiet.Stop()
	}
	if p.run == nil {
		if p.run, err = p.start(); err != nil {
			return a, engine.Faultf(j.Spec.Name(), engine.Gone, "%v", err)
		}
	}
	a, err = p.ask(ctx, &j)
	if err == nil || errors.As(err, new(*engine.Fault)) && p.run != nil {
		p.quiet = time.AfterFunc(idle, p.endIdle)
	}
	return a, err
}

// Job is a source with what is known of it, or a series of photos.
type Job struct {
	Spec  Spec
	Media []byte // a WAV file, a JPEG or a PNG
	Lang  string
	Turn  int // quarter turns that put a photo upright
	// Series opens the photos of a series, one after another, so that only one at a time is in
	// memory. Then there is no Media. An error of one of them ends the job.
	Series []func(context.Context) (sight.Frame, error)
}

// sendJob sends a job.
func (p *Process) sendJob(ctx context.Context, w io.Writer, j *Job) error {
	if err := send(w, job{j.Spec, cmp.Or(j.Lang, only(p.Langs)), p.Langs, j.Turn, p.Runs, len(j.Series)}, j.Media); err != nil {
		return err
	}
	for _, open := range j.Series {
		f, err := open(ctx)
		if err == nil {
			err = send(w, shot{f.At, f.Hints.Turn}, f.Photo)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *Process) ask(ctx context.Context, j *Job) (a result.Answer, err error) {
	r := p.run
	limit, cancel := context.WithTimeout(ctx, jobTime+time.Minute) // the process ends the job itself before that
	defer cancel()
	stop := context.AfterFunc(limit, func() { _ = r.cmd.Process.Kill() })
	var got reply
	if err = p.sendJob(ctx, r.in, j); err == nil {
		_, err = receive(r.out, &got)
	}
	if stop() && err == nil {
		return got.outcome(j.Spec.Name())
	}
	p.run = nil
	why := r.end()
	switch {
	case ctx.Err() != nil:
		return a, ctx.Err()
	case errors.Is(err, memory.ErrNotFound): // a photo is gone
		return a, err
	case limit.Err() != nil:
		return a, engine.Faultf(j.Spec.Name(), engine.Slow, "its process was killed after %s", jobTime+time.Minute)
	}
	return a, engine.Faultf(j.Spec.Name(), engine.Crashed, "its process ended: %s", strings.TrimRight(why+": "+r.said.String(), ": "))
}

// passed are the environment variables that a process gets. It does not get others, such as a
// passphrase.
var passed = []string{"PATH", "HOME", "TMPDIR", "TESSDATA_PREFIX", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SYSTEMROOT"}

// Environ returns the variables of an environment, each NAME=VALUE, whose names are in a list.
// The list has them in capitals; Windows writes them in either case.
func Environ(all, names []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(names, strings.ToUpper(name))
	})
}

func (p *Process) start() (*running, error) {
	r := &running{cmd: exec.Command(p.Command[0], p.Command[1:]...)}
	r.cmd.Env = Environ(os.Environ(), passed)
	r.cmd.Dir, r.cmd.Stderr, r.cmd.WaitDelay = string(os.PathSeparator), &r.said, time.Second
	ownProcessGroup(r.cmd)
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.out = bufio.NewReaderSize(out, 64<<10)
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	return r, nil
}

// end kills a process, and returns how it ended.
func (r *running) end() string {
	r.in.Close()
	_ = r.cmd.Process.Kill() // it may have ended already
	if err := r.cmd.Wait(); err != nil {
		return err.Error()
	}
	return r.cmd.ProcessState.String()
}

// endIdle ends the process until there is work again.
func (p *Process) endIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run != nil {
		p.run.end()
		p.run = nil
	}
}

// Close ends the process after its current job. The next job starts another one.
func (p *Process) Close() {
	p.endIdle()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet != nil {
		p.quiet.Stop()
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if over := len(t.b) - engine.MaxDetail; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return engine.Clip(string(t.b))
}
