package engines

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/internal/llm"
)

// ProcessName is what an engine's process is called by its only argument. A
// program that starts processes asks [IsProcess] before anything else.
const ProcessName = "engine-worker"

// IsProcess reports whether this process was started to run engines.
func IsProcess(args []string) bool { return len(args) == 2 && args[1] == ProcessName }

// ServeProcess is the whole life of an engine's process. It does jobs until its
// input ends, even in the middle of a job. It gives the exit code.
func ServeProcess(stdin io.Reader, stdout, stderr io.Writer) int {
	if err := bound(); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	debug.SetMemoryLimit(heapGoal)
	type message struct {
		job   job
		media []byte
	}
	jobs, ended := make(chan message), make(chan error, 1)
	go func() {
		in := bufio.NewReaderSize(stdin, 64<<10)
		for {
			var m message
			var err error
			if m.media, err = receive(in, &m.job); err != nil {
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
				a, err := m.job.do(ctx, m.media)
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

// do does a job.
func (j *job) do(ctx context.Context, media []byte) (a result.Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, jobTime)
	defer cancel()
	if err := j.clean(); err != nil {
		return a, err
	}
	name := j.Spec.Name()
	switch j.Spec.Work() {
	case result.Transcribe:
		t, err := (&speech.Windows{Engine: j.Spec.speech(j.Runs)}).Transcribe(ctx, media, speech.Hints{Lang: j.Lang})
		if err != nil {
			return a, err
		}
		return result.Heard(name, &t), nil
	case result.Read:
		p, err := j.Spec.reader(j.Runs).Read(ctx, media, sight.Hints{Turn: j.Turn})
		if err != nil {
			return a, err
		}
		return result.Printed(name, &p, media), nil
	case result.Caption:
		m, err := j.Spec.vision()
		if err != nil {
			return a, err
		}
		text, err := sight.Caption(ctx, m, media, sight.Hints{Turn: j.Turn})
		if err != nil {
			return a, faultOf(name, err)
		}
		return result.Captioned(name, text, media), nil
	}
	return a, engine.Faultf(name, engine.Refused, "it does no such work")
}

// clean removes the files of runs that were killed: they may hold sound.
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
func faultOf(name string, err error) error {
	f, ok := errors.AsType[*llm.Fault](err)
	if !ok {
		return err
	}
	kind := map[llm.Kind]engine.Kind{llm.Slow: engine.Slow, llm.Babbled: engine.Babbled, llm.Refused: engine.Refused, llm.Setup: engine.Missing,
		llm.Busy: engine.Busy, llm.Gone: engine.Gone}[f.Kind]
	e := engine.Faultf(name, kind, "%s", f.Error())
	e.After = f.After
	return e
}

// heapGoal is the size of heap, in bytes, above which the process collects garbage
// more eagerly. A photo of 40 million pixels takes some 300 MB for a moment.
const heapGoal = 256 << 20
