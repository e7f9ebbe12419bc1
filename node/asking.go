package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/distill"
	"github.com/locket-dev/locket/node/serve"
)

var errNoModel = fmt.Errorf("%w: no language model is asked about what is said: locket engine add mind, or set llm.url, llm.model and llm.extract", serve.ErrUnsupported)

// Model implements serve.Modeller.
func (n *Node) Model(ctx context.Context) (s serve.ModelStatus, err error) {
	err = n.view(ctx, func(o *session, tx *store.Tx) error {
		m := o.mind()
		s = serve.ModelStatus{URL: m.cfg.URL, Model: m.cfg.Model, Extract: m.cfg.Extract}
		if m.cfg.Extract {
			s.Prompt = distill.Version
		}
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
func (n *Node) ParkedMessages(ctx context.Context, limit int) ([]serve.ParkedMessage, error) {
	out := []serve.ParkedMessage{}
	err := n.view(ctx, func(_ *session, tx *store.Tx) error {
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
func (n *Node) RetryParked(ctx context.Context) (serve.ModelStatus, error) {
	err := n.during(ctx, func(ctx context.Context, o *session) error {
		m := o.mind()
		if m.find == nil {
			return errNoModel
		}
		err := finder{o}.Commit(ctx, func(tx *store.Tx, _ func(string) (bool, error)) error {
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
	return n.Model(ctx)
}

// RunModel implements serve.Modeller.
func (n *Node) RunModel(ctx context.Context) (res serve.ModelRun, err error) {
	err = n.during(ctx, func(ctx context.Context, o *session) error {
		m := o.mind()
		if m.find == nil {
			return errNoModel
		}
		done, err := m.find.Drain(ctx)
		res = serve.ModelRun{Messages: done.Messages, Changes: serve.Some(done.Changes), Refused: done.Refused, Parked: done.Parked}
		if f, ok := errors.AsType[*llm.Fault](err); ok {
			res.Trouble, err = f.Error(), nil
		}
		return err
	})
	return res, err
}

// Instructions implements serve.Modeller.
func (n *Node) Instructions(ctx context.Context) (text string, err error) {
	err = n.view(ctx, func(_ *session, tx *store.Tx) error {
		text, err = distill.Wishes(tx)
		return err
	})
	return text, err
}

// SetInstructions implements serve.Modeller.
func (n *Node) SetInstructions(ctx context.Context, text string) error {
	o, release, err := n.use()
	if err != nil {
		return err
	}
	defer release()
	if err := o.noSecret(ctx, "text", text); err != nil {
		return err
	}
	return o.engine.Commit(ctx, func(tx *store.Tx) error { return distill.SetWishes(tx, text) })
}

// doctorModel says whether the language model answers, and what waits for it.
func (n *Node) doctorModel(ctx context.Context, add adder) error {
	s, err := n.Model(ctx)
	if errors.Is(err, memory.ErrLocked) || err == nil && s.URL == "" {
		return nil
	}
	if err != nil {
		return err
	}
	err = n.during(ctx, func(ctx context.Context, o *session) error {
		m := o.mind()
		if m.client == nil {
			return m.err
		}
		return m.client.Check(ctx)
	})
	what := s.Model + " at " + s.URL
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		add("language model", serve.LevelWarning, "see that it runs, and that llm.url, llm.model and the key fit; nothing is lost meanwhile", "%s: %v", what, err)
	} else {
		add("language model", serve.LevelOK, "", "%s answers; %d tokens sent and %d received since the node was unlocked", what, s.PromptTokens, s.CompletionTokens)
	}
	if s.Waiting > 0 && s.Trouble != "" {
		add("language model", serve.LevelWarning, "", "%d lines wait to be asked about: %s", s.Waiting, s.Trouble)
	}
	if s.Parked > 0 {
		add("language model", serve.LevelWarning, "see 'locket llm parked'; 'locket llm retry' asks again", "%d lines are parked: no usable answer came", s.Parked)
	}
	return nil
}
