// Package cost counts the cost of asking models: tokens, and money by
// configured prices, for tokens or for minutes of sound.
//
// Money is a whole number of millionths of a US dollar and is always rounded
// up, so that rounding never exceeds a budget.
package cost

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/llm"
)

// MicroUSD is an amount in millionths of a US dollar.
type MicroUSD int64

// String is the amount in dollars with six decimals, without a sign.
func (m MicroUSD) String() string { return fmt.Sprintf("%d.%06d", m/1e6, m%1e6) }

// Price has the price of a million tokens, and of a minute of sound.
type Price struct {
	Prompt, Completion MicroUSD
	Minute             MicroUSD
}

// Tokens reports whether tokens cost anything.
func (p Price) Tokens() bool { return p.Prompt > 0 || p.Completion > 0 }

// Prices are the prices by model. A model without a price costs no money, such
// as a local one.
type Prices map[string]Price

// maxPrice limits a price, so that sums can't overflow.
const maxPrice = 1_000_000

// perMinute is the unit after the price of a minute of sound.
const perMinute = "min"

// ParsePrice parses MODEL=PROMPT/COMPLETION, the prices of a million tokens in decimal dollars,
// such as "gpt-5-mini=0.25/2", or MODEL=DOLLARS/min, the price of a minute of sound, such as
// "whisper-1=0.006/min".
func ParsePrice(s string) (model string, p Price, err error) {
	at := strings.LastIndexByte(s, '=')
	in, out, ok := strings.Cut(s[at+1:], "/")
	if at <= 0 || !ok {
		return "", p, fmt.Errorf("price %q: want MODEL=PROMPT/COMPLETION, of a million tokens, or MODEL=DOLLARS/min", s)
	}
	type part struct {
		text string
		to   *MicroUSD
	}
	parts := []part{{in, &p.Prompt}, {out, &p.Completion}}
	if out == perMinute {
		parts = []part{{in, &p.Minute}}
	}
	for _, f := range parts {
		v, err := strconv.ParseFloat(f.text, 64)
		if err != nil || math.IsNaN(v) || v < 0 || v > maxPrice {
			return "", Price{}, fmt.Errorf("price %q: %q is no price from 0 to %d", s, f.text, maxPrice)
		}
		*f.to = MicroUSD(math.Ceil(v * 1e6))
	}
	return s[:at], p, nil
}

// Of returns the cost of a model's tokens.
func (p Prices) Of(model string, u llm.Usage) MicroUSD {
	price := p[model]
	return ceil(int64(u.Prompt), int64(price.Prompt)) + ceil(int64(u.Completion), int64(price.Completion))
}

// OfSound returns a model's cost for a duration of sound.
func (p Prices) OfSound(model string, sound time.Duration) MicroUSD {
	ms := (max(sound, 0) + time.Millisecond - 1).Milliseconds()
	const minute = int64(time.Minute / time.Millisecond)
	price := int64(p[model].Minute)
	return MicroUSD(ms/minute*price + (ms%minute*price+minute-1)/minute)
}

// ceil returns tokens × price of a million, rounded up.
func ceil(tokens, price int64) MicroUSD {
	return MicroUSD(tokens/1e6*price + (tokens%1e6*price+999_999)/1_000_000)
}

// Spent is the cost of some work.
type Spent struct {
	Calls int `json:"calls"`
	llm.Usage
	MicroUSD MicroUSD `json:"micro_usd"`
}

// Add adds another cost.
func (s *Spent) Add(o Spent) {
	s.Calls += o.Calls
	s.Prompt += o.Prompt
	s.Completion += o.Completion
	s.Estimated += o.Estimated
	s.MicroUSD += o.MicroUSD
}

// Tokens returns the sum of all tokens.
func (s Spent) Tokens() int { return s.Prompt + s.Completion }

// Model is the model that is asked.
type Model interface {
	Ask(ctx context.Context, r llm.Request) (llm.Answer, error)
	AskJSON(ctx context.Context, r llm.Request, take func(b []byte) error) (llm.Usage, error)
	Name() string
}

// Meter is a Model that counts costs, for one piece of work. It is safe for
// concurrent use.
type Meter struct {
	Model  Model
	Named  string // the name under which Prices has it
	Prices Prices
	// Afford is called before each question; an error ends the work. Book is
	// called with the cost of each question at once, whatever its result.
	Afford func(context.Context) error
	Book   func(context.Context, Spent) error

	mu    sync.Mutex
	spent Spent
}

// Spent returns the cost so far.
func (m *Meter) Spent() Spent {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent
}

// Name returns the model's name.
func (m *Meter) Name() string { return m.Model.Name() }

// Ask asks, and counts.
func (m *Meter) Ask(ctx context.Context, r llm.Request) (llm.Answer, error) {
	if err := m.Afford(ctx); err != nil {
		return llm.Answer{}, err
	}
	a, err := m.Model.Ask(ctx, r)
	return a, errors.Join(err, m.count(ctx, a.Usage))
}

// AskJSON asks, and counts.
func (m *Meter) AskJSON(ctx context.Context, r llm.Request, take func(b []byte) error) (llm.Usage, error) {
	if err := m.Afford(ctx); err != nil {
		return llm.Usage{}, err
	}
	u, err := m.Model.AskJSON(ctx, r, take)
	return u, errors.Join(err, m.count(ctx, u))
}

func (m *Meter) count(ctx context.Context, u llm.Usage) error {
	s := Spent{Calls: 1, Usage: u, MicroUSD: m.Prices.Of(m.Named, u)}
	m.mu.Lock()
	m.spent.Add(s)
	m.mu.Unlock()
	return m.Book(context.WithoutCancel(ctx), s) // it is booked even if the work is being stopped, because it was spent
}
