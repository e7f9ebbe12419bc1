package worker

import (
	"context"
	"errors"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/cost"
	"github.com/locket-dev/locket/internal/engine/speech"
)

// Some services charge by the token and do not say how many tokens a recording
// took. OpenAI's models take 10 for a second of sound. A claim of more than
// mostPerSecond, or of none, is not believed.
const (
	perSecond     = 25
	mostPerSecond = 200
)

// paidSpeech is a speech engine for one job. Each window of a recording is paid
// from the budget of the job's space.
type paidSpeech struct {
	speech.Engine
	model  string // the name under which Prices has it
	prices cost.Prices
	r      *queue.Running
	took   queue.Cost
}

// Transcribe asks the budget first, and books the cost at once.
func (p *paidSpeech) Transcribe(ctx context.Context, wav []byte, hint speech.Hints) (speech.Transcript, error) {
	if err := p.r.Afford(ctx); err != nil {
		return speech.Transcript{}, err
	}
	t, err := p.Engine.Transcribe(ctx, wav, hint)
	if err != nil && !mayHaveWorked(err) {
		return t, err
	}
	c := p.cost(&t, speech.Length(wav))
	p.took = p.took.Plus(c)
	return t, errors.Join(err, p.r.Book(context.WithoutCancel(ctx), c)) // it is booked even if the job is being stopped, because it was spent
}

// mayHaveWorked reports whether a service that returned an error has probably done the
// work, and charges for it.
func mayHaveWorked(err error) bool {
	f, ok := errors.AsType[*engine.Fault](err)
	return ok && (f.Kind == engine.Babbled || f.Kind == engine.Slow)
}

func (p *paidSpeech) cost(t *speech.Transcript, sound time.Duration) queue.Cost {
	used, price := t.Used, p.prices[p.model]
	s := int(sound/time.Second) + 1
	if used.Prompt < 0 || used.Completion < 0 || used.Prompt+used.Completion > s*mostPerSecond || price.Tokens() && used.Prompt == 0 {
		used.Prompt, used.Completion = 0, 0
		if price.Tokens() {
			used.Prompt, used.Completion = s*perSecond, len(t.Text)/3+1
		}
	}
	return queue.Cost{Tokens: int64(used.Prompt + used.Completion), MicroUSD: p.prices.Of(p.model, used) + p.prices.OfSound(p.model, sound)}
}
