package meaning

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/dense"
)

// How long to wait after a fault: twice as long each time, at random between half
// of it and all of it, or as long as the server says.
const (
	firstWait = time.Second
	lastWait  = 5 * time.Minute
)

// Run makes vectors until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	for faults := 0; ; {
		more, err := k.Step(ctx)
		if ctx.Err() != nil {
			return
		}
		k.note(err)
		var timer <-chan time.Time
		var woken <-chan struct{}
		switch {
		case err != nil:
			faults++
			timer = time.After(delay(faults, err))
		case more:
			faults = 0
			continue
		default:
			faults, woken = 0, k.wake
		}
		select {
		case <-ctx.Done():
			return
		case <-timer:
		case <-woken:
		}
	}
}

func delay(faults int, err error) time.Duration {
	if f, ok := errors.AsType[*llm.Fault](err); ok && f.After > 0 {
		return f.After
	}
	return retry.After(faults, firstWait, lastWait)
}

// note stores the reason why no vectors are made, and logs it once.
func (k *Keeper) note(err error) {
	k.mu.Lock()
	was := k.fault
	k.fault = ""
	if err != nil {
		k.fault = err.Error()
	}
	now := k.fault
	k.mu.Unlock()
	if now != "" && was == "" {
		k.cfg.Log.Warn("vectors are not made now; search goes by words", "error", now)
	}
}

// Step makes the vectors of one batch, and reports whether the queue has more.
// After an error the batch is queued again.
func (k *Keeper) Step(ctx context.Context) (more bool, err error) {
	k.mu.Lock()
	var ids []memory.ID
	for id := range k.queue {
		if ids = append(ids, id); len(ids) == llm.MaxInputs {
			break
		}
	}
	for _, id := range ids {
		delete(k.queue, id) // if it changes meanwhile, it is queued again
	}
	sp := k.target()
	k.flight = make(map[memory.ID]bool, len(ids))
	for _, id := range ids {
		k.flight[id] = true
	}
	k.mu.Unlock()
	if err = k.embed(ctx, sp, ids); err != nil {
		k.mu.Lock()
		for id := range k.flight {
			k.queue[id] = true
		}
		k.mu.Unlock()
		return true, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.queue) == 0 && k.next != nil && k.next.set != nil {
		k.cfg.Log.Info("another model's vectors are complete", "model", k.next.model)
		k.cur, k.next = k.next, nil // the segments of the old one are deleted with the next flush
	}
	return len(k.queue) > 0, nil
}

func (k *Keeper) embed(ctx context.Context, sp *space, ids []memory.ID) error {
	if len(ids) == 0 {
		return nil
	}
	texts, err := k.cfg.Texts(ctx, ids)
	if err != nil {
		return fmt.Errorf("meaning: %w", err)
	}
	var want []memory.ID
	var sums []dense.Sum
	var input []string
	for _, id := range ids {
		text, ok := texts[id]
		if !ok || text == "" {
			k.drop(sp, id)
			continue
		}
		text = k.cfg.DocumentPrefix + text
		sum := dense.Sum(sha256of(text))
		k.mu.Lock()
		have := sp.set != nil && sp.set.Has(id, sum)
		k.mu.Unlock()
		if !have {
			want, sums, input = append(want, id), append(sums, sum), append(input, text)
		}
	}
	if len(want) == 0 {
		return nil
	}
	vectors, err := k.cfg.Embedder.Embed(ctx, sp.model, input)
	if f, ok := errors.AsType[*llm.Fault](err); ok && !f.Temporary() && f.Kind != llm.Slow {
		return k.oneByOne(ctx, sp, want, sums, input)
	}
	if err != nil {
		return err
	}
	return k.put(sp, want, sums, vectors)
}

func sha256of(s string) [8]byte {
	sum := sha256.Sum256([]byte(s))
	return [8]byte(sum[:8])
}

// oneByOne finds the text that the model refuses. That text gets no vector, and is
// found only by its words.
func (k *Keeper) oneByOne(ctx context.Context, sp *space, ids []memory.ID, sums []dense.Sum, texts []string) error {
	for i := range ids {
		v, err := k.cfg.Embedder.Embed(ctx, sp.model, texts[i:i+1])
		if f, ok := errors.AsType[*llm.Fault](err); ok && !f.Temporary() && f.Kind != llm.Slow {
			k.drop(sp, ids[i])
			k.mu.Lock()
			k.refused++
			k.mu.Unlock()
			k.cfg.Log.Warn("the model makes no vector of a text", "document", ids[i], "error", err)
			continue
		}
		if err == nil {
			err = k.put(sp, ids[i:i+1], sums[i:i+1], v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (k *Keeper) drop(sp *space, id memory.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if sp.set != nil {
		sp.set.Remove(id)
	}
}

func (k *Keeper) put(sp *space, ids []memory.ID, sums []dense.Sum, vectors [][]float32) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if sp != k.target() {
		return nil // another model was configured
	}
	if sp.set == nil {
		set, err := dense.New(len(vectors[0]))
		if err != nil {
			return err
		}
		sp.set = set
	}
	for i, id := range ids {
		if k.queue[id] || !k.flight[id] {
			continue // the document changed meanwhile, or is gone
		}
		if err := sp.set.Put(id, sums[i], vectors[i]); err != nil {
			return fmt.Errorf("meaning: the model %q gives other vectors than before: give it another name, so that all are made again: %w", sp.model, err)
		}
	}
	return nil
}
