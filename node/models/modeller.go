package models

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/category"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/distill"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

var errNoModel = fmt.Errorf("%w: no language model is asked about what is said: locket engine add mind, or set llm.url, llm.model and llm.extract", serve.ErrUnsupported)

// Modeller implements serve.Modeller.
type Modeller struct{ of opened.Of[*Language] }

// NewModeller makes a Modeller.
func NewModeller(of opened.Of[*Language]) Modeller { return Modeller{of} }

// Model implements serve.Modeller.
func (mr Modeller) Model(ctx context.Context) (serve.ModelStatus, error) {
	return opened.Do(mr.of, func(l *Language) (serve.ModelStatus, error) { return l.Status(ctx) })
}

// Status returns which model is used, and what waits for it.
func (l *Language) Status(ctx context.Context) (s serve.ModelStatus, err error) {
	m := l.now.Load()
	c := &m.cfg
	s = serve.ModelStatus{URL: c.URL, Model: c.Model, Extract: c.Extract}
	if c.Extract {
		s.Prompt = distill.Version
	}
	err = l.View(ctx, func(tx *store.Tx) error {
		for k, err := range tx.Tasks() {
			switch {
			case err != nil:
				return err
			case k.Parked.IsZero():
				s.Waiting++
			default:
				s.Parked++
			}
		}
		if m.err != nil {
			s.Trouble = m.err.Error()
		}
		if m.find != nil {
			s.Trouble = m.find.Trouble()
		}
		if m.client != nil {
			st := m.client.Stats()
			s.Calls, s.Faults, s.PromptTokens, s.CompletionTokens, s.Answered = st.Calls, st.Faults, st.Prompt, st.Completion, st.Answered
		}
		return nil
	})
	return s, err
}

// ParkedMessages implements serve.Modeller.
func (mr Modeller) ParkedMessages(ctx context.Context, limit int) ([]serve.ParkedMessage, error) {
	out := []serve.ParkedMessage{}
	err := opened.View(ctx, mr.of, func(_ *Language, tx *store.Tx) error {
		for k, err := range tx.Tasks() {
			if err != nil {
				return err
			}
			if k.Parked.IsZero() {
				continue
			}
			u, err := tx.Utterance(k.Utterance)
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			out = append(out, serve.ParkedMessage{Utterance: u.ID, At: u.At, Speaker: u.Speaker, Text: u.Text, Tries: k.Tries, Parked: k.Parked, Reason: k.Reason})
			if len(out) == limit {
				return nil
			}
		}
		return nil
	})
	return out, err
}

// RetryParked implements serve.Modeller.
func (mr Modeller) RetryParked(ctx context.Context) (serve.ModelStatus, error) {
	err := mr.of.During(ctx, func(ctx context.Context, l *Language) error {
		m := l.now.Load()
		if m.find == nil {
			return errNoModel
		}
		err := finder{l}.Commit(ctx, func(tx *store.Tx, _ func(string) (bool, error)) error {
			var again []store.Task
			for k, err := range tx.Tasks() {
				if err != nil {
					return err
				}
				if !k.Parked.IsZero() {
					k.Parked, k.Tries, k.Reason = time.Time{}, 0, ""
					again = append(again, k)
				}
			}
			for _, k := range again {
				if err := tx.PutTask(k); err != nil {
					return err
				}
			}
			return nil
		})
		m.find.Wake()
		return err
	})
	if err != nil {
		return serve.ModelStatus{}, err
	}
	return mr.Model(ctx)
}

// RunModel implements serve.Modeller.
func (mr Modeller) RunModel(ctx context.Context) (res serve.ModelRun, err error) {
	err = mr.of.During(ctx, func(ctx context.Context, l *Language) error {
		m := l.now.Load()
		if m.find == nil {
			return errNoModel
		}
		done, err := m.find.Drain(ctx)
		res = serve.ModelRun{Messages: done.Messages, Changes: serve.NonNil(done.Changes), Refused: done.Refused, Parked: done.Parked}
		if f, ok := errors.AsType[*llm.Fault](err); ok {
			res.Trouble, err = f.Error(), nil
		}
		return err
	})
	return res, err
}

// LeftOut returns what the instructions exclude, in terms of the wearer's categories.
func (l *Language) LeftOut(s *category.Sorter) func(*store.Tx) (category.LeftOut, error) {
	return func(tx *store.Tx) (category.LeftOut, error) {
		text, err := distill.Instructions(tx)
		if err != nil || text == "" {
			return category.LeftOut{}, err
		}
		return s.LeftOut(text), nil
	}
}

// Instructions implements serve.Modeller.
func (mr Modeller) Instructions(ctx context.Context) (text string, err error) {
	err = opened.View(ctx, mr.of, func(_ *Language, tx *store.Tx) error {
		text, err = distill.Instructions(tx)
		return err
	})
	return text, err
}

// SetInstructions implements serve.Modeller.
func (mr Modeller) SetInstructions(ctx context.Context, text string) error {
	l, release, err := mr.of.Use()
	if err != nil {
		return err
	}
	defer release()
	if err := l.c.NoSecret(ctx, "text", text); err != nil {
		return err
	}
	return l.c.Engine.Commit(ctx, func(tx *store.Tx) error { return distill.SetInstructions(tx, text) })
}

// Adder adds a finding of doctor.
type Adder = func(check, level, advice, format string, args ...any) *serve.Finding

// Doctor reports whether the language model answers, and what waits for it.
func (l *Language) Doctor(ctx context.Context, add Adder) error {
	m := l.now.Load()
	if m.cfg.URL == "" {
		return nil
	}
	s, err := l.Status(ctx)
	if err != nil {
		return err
	}
	if err = m.err; m.client != nil {
		err = m.client.Check(ctx)
	}
	what := s.Model + " at " + m.cfg.URL
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		add("language model", serve.LevelWarning, "check that it runs, and that llm.url, llm.model and the key are right; nothing is lost meanwhile", "%s: %v", what, err)
	} else {
		add("language model", serve.LevelOK, "", "%s answers; %d tokens sent and %d received since the node was unlocked", what, s.PromptTokens, s.CompletionTokens)
	}
	if s.Waiting > 0 && s.Trouble != "" {
		add("language model", serve.LevelWarning, "", "%d lines wait to be asked about: %s", s.Waiting, s.Trouble)
	}
	if s.Parked > 0 {
		add("language model", serve.LevelWarning, "see 'locket llm parked'; 'locket llm retry' asks again", "%d lines are parked: no usable answer came", s.Parked).Remedy("locket llm retry", "retryParked", "")
	}
	return nil
}
