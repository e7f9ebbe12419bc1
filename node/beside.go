package node

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/accept"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/extract"
)

// beside is what works for a session beside the node.
type beside struct {
	trying sync.Mutex // held while engines are tried with a sample
	mu     sync.Mutex // guards what follows
	runs   bool       // engines are to work
	queues map[result.Kind]*working
}

// working is an engine that works through its queue.
type working struct {
	queue   *engines.Queue
	process *engines.Process
	stop    func() // ends the work and waits for it
}

const enginePlugin = extract.EnginePlugin

// engineVersion is of how their answers become memories.
const engineVersion = "1.0.0"

// startEngines has the chosen engines work in the background, until stopEngines.
func (n *Node) startEngines(o *session) {
	o.beside.mu.Lock()
	defer o.beside.mu.Unlock()
	o.beside.runs = true
	if err := n.arrange(o); err != nil {
		n.log.Error("engines don't work", "error", err)
	}
}

// arrange has those engines work that are chosen now, and no others. The caller
// holds beside.mu.
func (n *Node) arrange(o *session, changed ...result.Kind) error {
	var specs []engines.Spec
	err := o.store.View(context.Background(), func(tx *store.Tx) (err error) {
		specs, err = engines.Load(tx)
		return err
	})
	if err != nil {
		return err
	}
	for kind, w := range o.beside.queues {
		if slices.Contains(changed, kind) || !slices.ContainsFunc(specs, func(s engines.Spec) bool { return s.Work() == kind }) {
			w.end()
			delete(o.beside.queues, kind)
		}
	}
	if !o.beside.runs || o.life.IsOver() {
		return nil
	}
	for _, s := range specs {
		kind := s.Work()
		if kind == "" || o.beside.queues[kind] != nil {
			continue
		}
		p, err := n.engineProcess(string(kind))
		if err != nil {
			return err
		}
		if o.beside.queues == nil {
			o.beside.queues = map[result.Kind]*working{}
		}
		q := engines.NewQueue(s, engineHost{o}, p, n.log, n.now)
		o.beside.queues[kind] = &working{q, p, o.life.Start(q.Run)}
	}
	return nil
}

func (w *working) end() {
	w.stop()
	w.process.Close()
}

// stopEngines waits until what engines made is committed or given up.
func (o *session) stopEngines() {
	o.beside.mu.Lock()
	defer o.beside.mu.Unlock()
	o.beside.runs = false
	for kind, w := range o.beside.queues {
		w.end()
		delete(o.beside.queues, kind)
	}
}

// engineProcess is one whose runs have a folder of their own: a process removes
// what it finds there.
func (n *Node) engineProcess(name string) (*engines.Process, error) {
	command := n.engines
	if command == nil {
		var err error
		if command, err = engines.Self(); err != nil {
			return nil, err
		}
	}
	return &engines.Process{Command: command, Runs: filepath.Join(engines.RunsFolder(n.cfg.Home), name)}, nil
}

// saw has engines look at what an event has made, before whoever else is told.
func (n *Node) saw(o *session) func(extract.Outcome) {
	return func(out extract.Outcome) {
		if len(out.Changes) > 0 {
			ids := make([]memory.ID, len(out.Changes))
			for i := range out.Changes {
				ids[i] = out.Changes[i].Memory
			}
			o.beside.mu.Lock()
			for _, w := range o.beside.queues {
				w.queue.Offer(ids...)
			}
			o.beside.mu.Unlock()
		}
		if n.onEvent != nil {
			n.onEvent(out)
		}
	}
}

// engineHost is engines.Host.
type engineHost struct{ o *session }

// View implements engines.Host.
func (h engineHost) View(ctx context.Context, fn func(*store.Tx) error) error {
	return h.o.store.View(ctx, fn)
}

// Commit implements engines.Host.
func (h engineHost) Commit(ctx context.Context, fn func(*store.Tx) error) error {
	return h.o.engine.Commit(ctx, fn)
}

// Took implements engines.Host.
func (h engineHost) Took(ctx context.Context, source memory.ID, a *result.Answer) error {
	o := h.o
	lock := o.engine.Hold()
	defer lock.Release()
	var src *memory.Memory
	waits := func(tx *store.Tx) (err error) {
		src, err = tx.Memory(source)
		if err == nil && !engines.Waits(src, a.Kind) {
			err = fmt.Errorf("source %s waits no more: %w", source, memory.ErrNotFound)
		}
		return err
	}
	if err := o.store.View(ctx, waits); err != nil {
		return err
	}
	by := memory.Source{Plugin: enginePlugin + string(a.Kind), Version: engineVersion, Model: a.Engine}
	if a.Kind != result.Transcribe {
		_, err := o.extract.Seen(ctx, lock, src, extract.Sight{Name: result.Name(source, a.Kind, a.Engine), Text: result.Cut(a.Text, memory.MaxText),
			Candidate: func(text string, redacted int) memory.Candidate {
				clean := *a
				clean.Text, clean.Redacted = text, redacted
				return result.Candidate(src, &clean, result.By{Plugin: by.Plugin, Version: by.Version})
			}}, func(tx *store.Tx) error {
			if err := waits(tx); err != nil {
				return err
			}
			_, err := o.engine.Say(tx, memory.RankDevice, memory.Assertion{Memory: source, Act: memory.ActTag, Tags: []string{engines.DoneTag(a.Kind)},
				Source: by, Reason: a.Engine + " has looked at it"})
			return err
		})
		return err
	}
	said := engines.Turns(a)
	instead, why := "", "it has been transcribed by "+a.Engine
	if len(said) == 0 {
		instead, why = ", in which "+a.Engine+" heard no words", a.Engine+" heard no words"
	}
	_, err := o.extract.Words(ctx, lock, src, by, said, func(tx *store.Tx) error {
		if err := waits(tx); err != nil {
			return err
		}
		return accept.Heard(o.engine, tx, src, instead, why)
	})
	return err
}
