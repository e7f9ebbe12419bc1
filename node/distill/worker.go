package distill

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/judge"
	"github.com/locket-dev/locket/memory/store"
)

// Node is what a worker needs of the node that it works for.
type Node interface {
	// View reads the records.
	View(ctx context.Context, fn func(*store.Tx) error) error
	// Commit changes the records and updates the index. secret reports whether a
	// text contains a secret, and may only be called within fn.
	Commit(ctx context.Context, fn func(tx *store.Tx, secret func(text string) (bool, error)) error) error
	// AssertTx makes assertions in the device's name, within fn of Commit.
	AssertTx(tx *store.Tx, rank memory.Rank, as ...memory.Assertion) ([]memory.Change, error)
	// Near returns the memories that are nearest to a text, the nearest first.
	Near(ctx context.Context, text string, k int) ([]memory.ID, error)
	// MemoryID is memory.DeriveID under the space's id key.
	MemoryID(ev memory.EventID, plugin, fingerprint string) memory.ID
}

// Model is a language model.
type Model interface {
	AskJSON(ctx context.Context, r llm.Request, take func(b []byte) error) (llm.Usage, error)
	Ask(ctx context.Context, r llm.Request) (llm.Answer, error)
	Name() string
}

// Config says for whom a worker works.
type Config struct {
	Owner  string // user id of the wearer
	Wearer string // the wearer's name
	Zone   *time.Location
	Log    *slog.Logger
}

// Worker passes messages to a model, one batch at a time. Its methods are safe for
// concurrent use.
type Worker struct {
	cfg   Config
	node  Node
	model Model
	wake  chan struct{}
	busy  sync.Mutex // one batch at a time

	mu      sync.Mutex
	trouble string // why the last batch failed; empty: it succeeded
}

// New makes a worker that does nothing yet.
func New(cfg Config, n Node, m Model) *Worker {
	cfg.Zone = cmp.Or(cfg.Zone, time.UTC)
	return &Worker{cfg: cfg, node: n, model: m, wake: make(chan struct{}, 1)}
}

// Plugin is the worker's name in the source of what it finds.
const Plugin = "llm"

func (w *Worker) source() memory.Source {
	return memory.Source{Plugin: Plugin, Version: Version, Model: w.model.Name()}
}

// Wake tells the worker that there are new messages.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Trouble returns why messages wait. It is empty if they do not.
func (w *Worker) Trouble() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trouble
}

// Settings of the worker's pace.
const (
	settle    = 5 * time.Second // after a message, so that the next ones come with it
	firstRest = 5 * time.Second // after a fault, doubled each time up to the next
	longRest  = 5 * time.Minute
)

// Run works until ctx ends.
func (w *Worker) Run(ctx context.Context) {
	pace, rest := retry.Backoff{First: firstRest, Most: longRest}, time.Duration(0)
	for {
		if !wait.For(ctx, max(rest, settle)) {
			return
		}
		_, err := w.Drain(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			rest = 0
			pace.Reset()
			select {
			case <-ctx.Done():
				return
			case <-w.wake:
			}
			continue
		}
		w.cfg.Log.Warn("messages wait for the language model", "error", err)
		rest = pace.Next()
		if f, ok := errors.AsType[*llm.Fault](err); ok && f.After > rest {
			rest = f.After
		}
	}
}

// Done counts the results of messages.
type Done struct {
	Messages int // messages that the model was asked about
	Changes  []memory.Change
	Refused  int // operations that were refused
	Parked   int // messages that were parked
}

// Drain asks about all messages that wait, but not about parked ones. It stops at a
// fault that is not caused by a message, such as an unreachable server; then the
// messages go on waiting.
func (w *Worker) Drain(ctx context.Context) (all Done, err error) {
	w.busy.Lock()
	defer w.busy.Unlock()
	defer func() {
		if ctx.Err() != nil {
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.trouble = ""
		if err != nil {
			w.trouble = err.Error()
		}
	}()
	for {
		tasks, err := w.nextBatch(ctx)
		if err != nil || len(tasks) == 0 {
			return all, err
		}
		d, err := w.batch(ctx, tasks)
		all.Messages += d.Messages
		all.Changes = append(all.Changes, d.Changes...)
		all.Refused += d.Refused
		all.Parked += d.Parked
		if err != nil {
			return all, err
		}
	}
}

// nextBatch returns the tasks of the next batch: the oldest that wait, from one session.
// A task that failed together with others is tried alone.
func (w *Worker) nextBatch(ctx context.Context) (tasks []store.Task, err error) {
	err = w.node.View(ctx, func(tx *store.Tx) error {
		for k, err := range tx.Tasks() {
			switch {
			case err != nil:
				return err
			case !k.Parked.IsZero():
				continue
			case len(tasks) > 0 && (k.Session != tasks[0].Session || k.Tries > 0):
				return nil
			}
			tasks = append(tasks, k)
			if len(tasks) == MaxBatch || k.Tries > 0 {
				return nil
			}
		}
		return nil
	})
	return tasks, err
}

// maxTries is how often a message is tried without a usable answer before it is
// parked. One unusable answer already took three attempts.
const maxTries = 3

// batch asks about tasks, and commits the result.
func (w *Worker) batch(ctx context.Context, tasks []store.Task) (done Done, err error) {
	b, ids, err := w.gather(ctx, tasks)
	if err != nil {
		return done, err
	}
	if len(b.Messages) == 0 { // they were forgotten, or removed by retention
		return done, w.node.Commit(ctx, func(tx *store.Tx, _ func(string) (bool, error)) error { return drop(tx, tasks) })
	}
	var ops []judge.Operation
	_, err = w.model.AskJSON(ctx, request(b), func(answer []byte) (err error) {
		ops, err = judge.Parse(answer)
		return err
	})
	if err != nil {
		return w.failed(ctx, tasks, err)
	}
	done, fresh, err := w.commit(ctx, tasks, b, ids, ops)
	if err == nil && !fresh {
		return done, nil // what the model was shown has changed: these messages are asked about again
	}
	if err == nil {
		done.Messages = len(b.Messages)
		err = w.summarise(ctx, b)
	}
	return done, err
}

// failed handles tasks for which the model gave no usable answer: they are tried
// again one by one, and then parked with the reason.
func (w *Worker) failed(ctx context.Context, tasks []store.Task, cause error) (done Done, err error) {
	f, ok := errors.AsType[*llm.Fault](cause)
	if !ok || ctx.Err() != nil {
		return done, cause
	}
	if f.Temporary() && f.Status != http.StatusInternalServerError { // the lines themselves may cause a 500; 502 and the like mean that the server is down
		return done, cause
	}
	err = w.node.Commit(ctx, func(tx *store.Tx, _ func(string) (bool, error)) error {
		done.Parked = 0
		there := map[memory.ID]bool{}
		for k, err := range tx.Tasks() {
			if err != nil {
				return err
			}
			there[k.Utterance] = true
		}
		for _, k := range tasks {
			if !there[k.Utterance] {
				continue // it was forgotten meanwhile
			}
			k.Tries++
			k.Reason = f.Error()
			if len(tasks) == 1 && (k.Tries >= maxTries || f.Kind == llm.Babbled || f.Kind == llm.Refused) {
				k.Parked = time.Now().UTC()
				done.Parked++
			}
			if err := tx.PutTask(k); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && done.Parked == 0 && f.Kind == llm.Gone {
		err = cause // the model may fail for this message or for every one: wait
	}
	return done, err
}

func drop(tx *store.Tx, tasks []store.Task) error {
	for _, k := range tasks {
		if err := tx.DropTask(k); err != nil {
			return err
		}
	}
	return nil
}
