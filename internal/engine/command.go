package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of one run of a program. Zero means the default.
type Limits struct {
	Wall   time.Duration // 3 min
	CPU    time.Duration // whole seconds of processor time, over all threads; 2 min
	Memory int64         // bytes of address space, on Linux; 1 GiB
	Output int64         // bytes of standard output; 4 MiB
	File   int64         // bytes of any file that it writes; 64 MiB
}

func (l Limits) filled() Limits {
	def := func(v *int64, d int64) {
		if *v <= 0 {
			*v = d
		}
	}
	if l.Wall <= 0 {
		l.Wall = 3 * time.Minute
	}
	if l.CPU < time.Second {
		l.CPU = 2 * time.Minute
	}
	def(&l.Memory, 1<<30)
	def(&l.Output, 4<<20)
	def(&l.File, 64<<20)
	return l
}

// Command is a program that reads one input. The zero Limits work.
type Command struct {
	Engine  string // name for faults
	Program string // a name on the PATH, or a path
	Limits  Limits
	Dir     string   // where the folder of a run is made; empty: the system's temporary folder
	Path    string   // folders in which a plain name is searched, in the form of PATH; empty: the process's own PATH
	Reads   []string // files and folders that it may read besides those of [view]
	writes  []string // those that it may write besides its folder; for tests
}

// Find returns the program's path, or a Fault of kind Missing.
func (c *Command) Find() (string, error) {
	if c.Path != "" && !strings.ContainsRune(c.Program, filepath.Separator) {
		for _, dir := range filepath.SplitList(c.Path) {
			p := filepath.Join(dir, c.Program)
			if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
				return p, nil
			}
		}
		return "", Faultf(c.Engine, Missing, "%s is not in %s", c.Program, c.Path)
	}
	p, err := exec.LookPath(c.Program)
	if err != nil {
		return "", Faultf(c.Engine, Missing, "%s is not on the PATH", c.Program)
	}
	return filepath.Abs(p)
}

// Input is the input of a run.
type Input struct {
	Stdin []byte
	// File, if not nil, is written to the run's folder, which is the working
	// directory, under FileName with mode 0600.
	File     []byte
	FileName string
	// Results, if any, are names of files that the program may write to its folder. Run
	// returns the first of them that is there, of at most Limits.Output bytes, in place of
	// the standard output.
	Results []string
}

// Run runs the program once and returns its standard output, or a file that it wrote. An error is a
// *Fault, or that of ctx. When Run returns, the process, its whole process
// group and the folder are gone.
//
// The program has a small environment: PATH, HOME and TMPDIR (its folder), a
// UTF-8 locale, one OpenMP thread. It has no network, and can open nothing but its
// folder, its own files and those of the system, as far as [Confinement] says.
func (c *Command) Run(ctx context.Context, in Input, args ...string) ([]byte, error) {
	if !canLimit {
		return nil, Faultf(c.Engine, Missing, "programs can't be run under limits on this system; name a service instead")
	}
	path, err := c.Find()
	if err != nil {
		return nil, err
	}
	lim := c.Limits.filled()
	dir, err := os.MkdirTemp(c.Dir, "run-")
	if err != nil {
		return nil, fmt.Errorf("%s: make its folder: %w", c.Engine, err)
	}
	defer os.RemoveAll(dir)
	if in.File != nil {
		if err := os.WriteFile(filepath.Join(dir, in.FileName), in.File, 0o600); err != nil {
			return nil, fmt.Errorf("%s: write its input: %w", c.Engine, err)
		}
	}
	run, cancel := context.WithTimeout(ctx, lim.Wall)
	defer cancel()
	out := &bounded{limit: lim.Output, full: cancel}
	said := &tail{}
	cmd := limited(run, lim, path, args)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "OMP_THREAD_LIMIT=1"}
	if v := os.Getenv("TESSDATA_PREFIX"); v != "" {
		cmd.Env = append(cmd.Env, "TESSDATA_PREFIX="+v)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in.Stdin), out, said
	cmd.WaitDelay = 2 * time.Second // for a grandchild that keeps a pipe open
	err = runGroup(cmd, c.view(path, dir))
	switch {
	case out.over:
		return nil, Faultf(c.Engine, Babbled, "more than %d bytes", lim.Output)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case run.Err() != nil:
		return nil, Faultf(c.Engine, Slow, "killed after %s", lim.Wall)
	case err == nil || errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success():
		if len(in.Results) > 0 {
			return c.result(dir, in.Results, lim.Output)
		}
		return out.Bytes(), nil
	}
	if end := ending(cmd.ProcessState, lim); end != nil {
		end.Engine = c.Engine
		end.Detail = Clip(strings.TrimRight(end.Detail+": "+said.String(), ": "))
		return nil, end
	}
	return nil, Faultf(c.Engine, Crashed, "%s", strings.TrimRight(err.Error()+": "+said.String(), ": "))
}

// result reads what the program wrote to its folder. It follows no link.
func (c *Command) result(dir string, names []string, most int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Engine, err)
	}
	defer root.Close()
	for _, name := range names {
		info, err := root.Lstat(name)
		switch {
		case err != nil || !info.Mode().IsRegular():
		case info.Size() > most:
			return nil, Faultf(c.Engine, Babbled, "more than %d bytes", most)
		default:
			return root.ReadFile(name)
		}
	}
	return nil, Faultf(c.Engine, Babbled, "it wrote no %s", names[0])
}

// bounded stores the output until it is too much, and then ends the run.
type bounded struct {
	bytes.Buffer
	limit int64
	over  bool
	full  func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if int64(b.Len()+len(p)) > b.limit {
		b.over = true
		b.full()
		return 0, io.ErrShortWrite
	}
	return b.Buffer.Write(p)
}

// ReadFrom hides bytes.Buffer's ReadFrom, which has no limit.
func (b *bounded) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{b}, r)
}

// tail stores the end of the output.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if over := len(t.b) - MaxDetail; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return Clip(string(t.b)) }

// Clip makes one line of at most [MaxDetail] bytes from an engine's message.
func Clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= MaxDetail {
		return s
	}
	n := MaxDetail
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
