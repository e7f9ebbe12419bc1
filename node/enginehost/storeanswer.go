package enginehost

import (
	"context"
	"fmt"

	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/accept"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/extract"
)

// answersVersion is the version of the conversion of answers into memories.
const answersVersion = "1.0.0"

// StoreAnswer implements engines.Host.
func (h *Host) StoreAnswer(ctx context.Context, a *result.Answer, sources ...memory.ID) error {
	lock := h.c.Engine.AcquireWriter()
	defer lock.Release()
	var of []*memory.Memory
	waits := func(tx *store.Tx) error {
		of = nil
		for _, id := range sources {
			src, err := tx.Memory(id)
			if err == nil && !engines.Waits(src, a.Kind) {
				err = fmt.Errorf("source %s no longer waits for an engine: %w", id, memory.ErrNotFound)
			}
			if err != nil {
				return err
			}
			of = append(of, src)
		}
		return nil
	}
	if err := h.View(ctx, waits); err != nil {
		return err
	}
	by := memory.Source{Plugin: extract.EnginePlugin + string(a.Kind), Version: answersVersion, Model: a.Engine}
	if a.Kind != result.Transcribe {
		return h.storeSight(ctx, lock, a, of, by, waits)
	}
	said := engines.Turns(a)
	instead, why := "", "it has been transcribed by "+a.Engine
	if len(said) == 0 {
		instead, why = ", in which "+a.Engine+" heard no words", a.Engine+" heard no words"
	}
	_, err := h.c.Extract.KeepWords(ctx, lock, of[0], by, said, func(tx *store.Tx) error {
		if err := waits(tx); err != nil {
			return err
		}
		return accept.MarkTranscribed(h.c.Engine, tx, of[0], instead, why)
	})
	return err
}

// storeSight keeps what an engine read in a photo, or says about a photo or a series.
func (h *Host) storeSight(ctx context.Context, lock *engine.Writer, a *result.Answer, of []*memory.Memory, by memory.Source, waits func(*store.Tx) error) error {
	mark := func(tx *store.Tx) error {
		if err := waits(tx); err != nil {
			return err
		}
		for _, src := range of {
			_, err := h.c.Engine.AssertTx(tx, memory.RankDevice, memory.Assertion{Memory: src.ID, Act: memory.ActTag, Tags: []string{engines.DoneTag(a.Kind)},
				Source: by, Reason: a.Engine + " has looked at it"})
			if err != nil {
				return err
			}
		}
		return nil
	}
	if a.Kind == result.Read {
		if again, err := h.isPrintRepeated(ctx, lock, of[0], a, by, mark); err != nil || again {
			return err
		}
	}
	_, err := h.c.Extract.KeepSight(ctx, lock, of[0], extract.Sight{Name: result.Name(of[0].ID, a.Kind, a.Engine), Text: memory.Cut(a.Text, memory.MaxText),
		Candidate: func(text string, redacted int) memory.Candidate {
			clean := *a
			clean.Text, clean.Redacted = text, redacted
			if a.Kind == result.Sequence {
				return result.SeriesCandidate(of, &clean, result.By{Plugin: by.Plugin, Version: by.Version})
			}
			return result.Candidate(of[0], &clean, result.By{Plugin: by.Plugin, Version: by.Version})
		}}, mark)
	return err
}

// printLook is how many of the newest resources are compared with a new print.
const printLook = 400

// isPrintRepeated reports whether a photo from a moment before or after has the same printed text.
// Then the memory of that text gets this photo as further evidence, and no other memory is
// made.
func (h *Host) isPrintRepeated(ctx context.Context, lock *engine.Writer, src *memory.Memory, a *result.Answer, by memory.Source, mark func(*store.Tx) error) (again bool, err error) {
	var known memory.ID
	err = h.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}, States: []memory.State{memory.Active}, Limit: printLook}) {
			if err != nil {
				return err
			}
			if again = result.SamePrint(m, src, a, by.Plugin); again {
				known = m.ID
				break
			}
		}
		return nil
	})
	if err != nil || !again {
		return false, err
	}
	ev := result.EvidenceOf(src)
	return true, lock.Commit(ctx, func(tx *store.Tx) error {
		if err := mark(tx); err != nil {
			return err
		}
		_, err := h.c.Engine.AssertTx(tx, memory.RankDevice, memory.Assertion{Memory: known, Act: memory.ActReinforce, Evidence: []memory.Evidence{{Event: ev.Event, At: ev.At}},
			Source: by, Reason: "another photo has the same print"})
		return err
	})
}
