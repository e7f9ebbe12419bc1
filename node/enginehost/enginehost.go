// Package enginehost runs the engines that the wearer has chosen for an open node, and lets the
// wearer choose them. Package engines has the engines themselves, their processes and their
// queues.
package enginehost

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/accept"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/models"
	"github.com/locket-dev/locket/node/opened"
)

// Config is what the engines of an open node need.
type Config struct {
	Home     string
	Langs    []string   // spoken around the wearer, BCP 47; empty: unknown
	LLM      config.LLM // the language model that the configuration names, if any
	Command  []string   // of an engine's process; nil: engines.Self's
	Engine   accept.Engine
	Extract  *extract.Extractor
	Language *models.Language
	Life     *opened.Life
	Paused   func() bool // reports that speech is not heard now, because of a pause or a private zone; nil: it is always heard
	Now      func() time.Time
	Log      *slog.Logger
}

// Host is the engines part of an open node. It implements engines.Host. Its methods are safe for
// concurrent use.
type Host struct {
	c      Config
	trying sync.Mutex                   // held while engines are tried with a sample
	live   atomic.Pointer[engines.Live] // nil: no engine hears what is being spoken
	mu     sync.Mutex                   // guards the fields below
	runs   bool                         // engines are to work
	queues map[result.Kind]*working
}

// working is an engine that processes its queue.
type working struct {
	queue      *engines.Queue
	process    *engines.Process
	live       *engines.Live // may be nil
	endHearing func()        // closes live and waits for it, as the life's end does
	stop       func()        // ends the work and waits for it
}

// New makes a Host whose engines do not work yet.
func New(c Config) *Host { return &Host{c: c, queues: map[result.Kind]*working{}} }

// Start starts the chosen engines in the background, until Stop.
func (h *Host) Start(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs = true
	if err := h.arrange(ctx); err != nil {
		h.c.Log.Error("the engines could not be started", "error", err)
	}
}

// specs returns the chosen engines.
func (h *Host) specs(ctx context.Context) (specs []engines.Spec, err error) {
	err = h.View(ctx, func(tx *store.Tx) (err error) {
		specs, err = engines.Load(tx)
		return err
	})
	return specs, err
}

// arrange starts the chosen engines that are not running yet. It ends those that are no longer
// chosen, and those whose kind has changed. The caller holds mu.
func (h *Host) arrange(ctx context.Context, changed ...result.Kind) error {
	specs, err := h.specs(ctx)
	if err != nil {
		return err
	}
	for kind, w := range h.queues {
		if slices.Contains(changed, kind) || !slices.ContainsFunc(specs, func(s engines.Spec) bool { return s.Work() == kind }) {
			h.end(w)
			delete(h.queues, kind)
		}
	}
	if !h.runs || h.c.Life.IsOver() {
		return nil
	}
	for _, s := range specs {
		kind := s.Work()
		if kind == "" || h.queues[kind] != nil {
			continue
		}
		p, err := h.process(string(kind))
		if err != nil {
			return err
		}
		if words, whole := engine.Confinement(); s.URL == "" && !whole { // the process itself would report it where nobody looks
			h.c.Log.Warn("an engine is less confined than it should be", "engine", s.Name(), "because", words)
		}
		q := engines.NewQueue(s, h, p, h.c.Log, h.c.Now)
		w := &working{queue: q, process: p}
		if s.Streams() {
			w.live = h.listen(s, q)
			q.SetLive(w.live)
			h.live.Store(w.live)
			w.endHearing = h.c.Life.Start(func(ctx context.Context) { // when the node is locked, it may have to wait for a call before it ends the engines
				<-ctx.Done()
				w.live.Close()
			})
		}
		w.stop = h.c.Life.Start(q.Run)
		h.queues[kind] = w
	}
	return nil
}

func (h *Host) end(w *working) {
	if w.live != nil {
		h.live.CompareAndSwap(w.live, nil)
		w.endHearing()
	}
	w.stop()
	w.process.Close()
}

// Stop waits until what engines made is committed or dropped.
func (h *Host) Stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs = false
	for kind, w := range h.queues {
		h.end(w)
		delete(h.queues, kind)
	}
}

// process makes a process whose runs have their own folder, because a process removes everything
// that it finds in that folder.
func (h *Host) process(name string) (*engines.Process, error) {
	command := h.c.Command
	if command == nil {
		var err error
		if command, err = engines.Self(); err != nil {
			return nil, err
		}
	}
	return &engines.Process{Command: command, Runs: filepath.Join(engines.RunsFolder(h.c.Home), name), Langs: h.c.Langs}, nil
}

// Offer makes engines look at new or changed memories.
func (h *Host) Offer(changes []memory.Change) {
	if len(changes) == 0 {
		return
	}
	ids := make([]memory.ID, len(changes))
	for i := range changes {
		ids[i] = changes[i].Memory
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.queues {
		w.queue.Offer(ids...)
	}
}

// View implements engines.Host.
func (h *Host) View(ctx context.Context, fn func(*store.Tx) error) error {
	return h.c.Engine.View(ctx, fn)
}

// Commit implements engines.Host.
func (h *Host) Commit(ctx context.Context, fn func(*store.Tx) error) error {
	return h.c.Engine.Commit(ctx, fn)
}
