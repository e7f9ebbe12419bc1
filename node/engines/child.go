package engines

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/internal/llm"
)

// ProcessName is the only argument of an engine's process. A program that starts
// such processes calls [IsProcess] before anything else.
const ProcessName = "engine-worker"

// IsProcess reports whether this process was started to run engines.
func IsProcess(args []string) bool { return len(args) == 2 && args[1] == ProcessName }

// ServeProcess runs an engine's process. It does jobs until its input ends, even
// in the middle of a job. It returns the exit code.
func ServeProcess(stdin io.Reader, stdout, stderr io.Writer) int {
	if err := bound(); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	debug.SetMemoryLimit(heapGoal)
	jobs, ended := make(chan message), make(chan error, 1)
	go func() {
		in := bufio.NewReaderSize(stdin, 64<<10)
		for {
			m, err := next(in)
			if err != nil {
				ended <- err
				return
			}
			jobs <- m
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	for {
		select {
		case err := <-ended:
			if errors.Is(err, io.EOF) {
				return 0
			}
			fmt.Fprintln(stderr, err)
			return 1
		case m := <-jobs:
			go func() {
				a, err := m.do(ctx)
				done <- send(stdout, replyOf(a, err), nil)
			}()
			select {
			case <-ended: // nobody waits for the answer
				cancel()
				<-done
				return 1
			case err := <-done:
				if err != nil {
					fmt.Fprintln(stderr, err)
					return 1
				}
			}
		}
	}
}

// message is a job with its media.
type message struct {
	job
	media  []byte
	series sight.Series
	alike  int            // photos of the series that look like others
	left   map[int]string // photos of the series that can't be opened
}

// next reads a job. The photos of a series are scaled down as they are read.
func next(in io.Reader) (m message, err error) {
	if m.media, err = receive(in, &m.job); err != nil {
		return m, err
	}
	m.left = map[int]string{}
	for i := range m.Photos {
		var s shot
		photo, err := receive(in, &s)
		if err != nil {
			return m, err
		}
		shown, err := m.series.Add(sight.Frame{At: s.At, Photo: photo, Hints: sight.Hints{Turn: s.Turn}})
		switch {
		case err != nil:
			m.left[i] = engine.Clip(err.Error())
		case !shown:
			m.alike++
		}
	}
	return m, nil
}

// do does a job.
func (m *message) do(ctx context.Context) (a result.Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, jobTime)
	defer cancel()
	if err := m.clean(); err != nil {
		return a, err
	}
	name := m.Spec.Name()
	switch m.Spec.Work() {
	case result.Transcribe:
		t, err := (&speech.Windows{Engine: m.Spec.speech(m.Runs)}).Transcribe(ctx, m.media, speech.Hints{Lang: m.Lang})
		if err != nil {
			return a, err
		}
		return result.Heard(name, &t), nil
	case result.Read:
		p, err := m.Spec.reader(m.Runs, m.Langs).Read(ctx, m.media, sight.Hints{Turn: m.Turn})
		if err != nil {
			return a, err
		}
		return result.Printed(name, &p, m.media), nil
	case result.Caption:
		return m.see(ctx, name)
	}
	return a, engine.Faultf(name, engine.Refused, "it does no such work")
}

// see returns what a photo or a series shows.
func (m *message) see(ctx context.Context, name string) (a result.Answer, err error) {
	c, err := m.Spec.vision()
	if err != nil {
		return a, err
	}
	if m.Photos == 0 {
		text, err := sight.Caption(ctx, c, m.media, sight.Hints{Turn: m.Turn})
		if err != nil {
			return a, faultOf(&m.Spec, err)
		}
		return result.Captioned(name, text, m.media), nil
	}
	if m.series.Waiting() == 0 { // no photo could be opened
		return result.Answer{Kind: result.Sequence, Engine: name, Left: m.left}, nil
	}
	seen, err := m.series.Watch(ctx, c)
	if err != nil {
		return a, faultOf(&m.Spec, err)
	}
	a = result.Watched(name, &seen, m.alike)
	a.Left = m.left
	return a, nil
}

// clean removes the files of runs that were killed, because they may contain
// sound.
func (j *job) clean() error {
	if j.Runs == "" {
		return nil
	}
	if err := os.MkdirAll(j.Runs, 0o700); err != nil {
		return err
	}
	left, err := filepath.Glob(filepath.Join(j.Runs, "run-*"))
	for _, dir := range left {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// faultOf turns a language model's fault into an engine's.
func faultOf(s *Spec, err error) error {
	f, ok := errors.AsType[*llm.Fault](err)
	if !ok {
		return err
	}
	name := s.Name()
	switch c := f.Status; {
	case c == http.StatusUnauthorized || c == http.StatusForbidden:
		return engine.WantsKey(name, s.Key != "", f.Detail)
	case c >= 300 && c < 400:
		return engine.Faultf(name, engine.Moved, "%s", f.Detail)
	}
	kind := map[llm.Kind]engine.Kind{llm.Slow: engine.Slow, llm.Babbled: engine.Babbled, llm.Refused: engine.Refused, llm.Setup: engine.Missing,
		llm.Busy: engine.Busy, llm.Gone: engine.Gone}[f.Kind]
	detail := f.Error()
	if kind == engine.Gone { // its message says already that there is no answer
		detail = f.Detail
	}
	e := engine.Faultf(name, kind, "%s", detail)
	e.After = f.After
	return e
}

// heapGoal is the size of the heap, in bytes, above which the process collects
// garbage more eagerly. A photo of 40 million pixels takes about 300 MB for a
// moment.
const heapGoal = 256 << 20
