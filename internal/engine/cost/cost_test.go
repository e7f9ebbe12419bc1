package cost

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/internal/llm"
)

func TestParsePrice(t *testing.T) {
	for in, want := range map[string]Price{"gpt-5-mini=0.25/2": {Prompt: 250_000, Completion: 2_000_000}, "a=b=0/0": {}, "m=0.0000001/1": {Prompt: 1, Completion: 1_000_000},
		"whisper-1=0.006/min": {Minute: 6000}} {
		_, got, err := ParsePrice(in)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "m", "m=1", "=1/2", "m=x/1", "m=1/-1", "m=NaN/1", "m=1/1e9", "m=-1/min", "m=/min", "m=1/hour"} {
		if _, _, err := ParsePrice(in); err == nil {
			t.Errorf("%q is taken", in)
		}
	}
}

// Costs are exact, rounded up, for any number of tokens.
func TestCostIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := llm.Usage{Prompt: rapid.IntRange(0, 1<<31).Draw(t, "prompt"), Completion: rapid.IntRange(0, 1<<31).Draw(t, "completion")}
		p := Price{Prompt: MicroUSD(rapid.Int64Range(0, 1e9).Draw(t, "in")), Completion: MicroUSD(rapid.Int64Range(0, 1e9).Draw(t, "out"))}
		got := Prices{"m": p}.Of("m", u)
		want := new(big.Int)
		for _, x := range [][2]int64{{int64(u.Prompt), int64(p.Prompt)}, {int64(u.Completion), int64(p.Completion)}} {
			v := new(big.Int).Mul(big.NewInt(x[0]), big.NewInt(x[1]))
			v.Add(v, big.NewInt(999_999)).Div(v, big.NewInt(1_000_000))
			want.Add(want, v)
		}
		if want.Cmp(big.NewInt(int64(got))) != 0 {
			t.Fatalf("%v, want %v", int64(got), want)
		}
	})
}

type fixed struct{ llm.Usage }

func (f fixed) Name() string { return "m at home" }

func (f fixed) Ask(context.Context, llm.Request) (llm.Answer, error) {
	return llm.Answer{Text: "x", Usage: f.Usage}, nil
}

func (f fixed) AskJSON(context.Context, llm.Request, func([]byte) error) (llm.Usage, error) {
	return f.Usage, errors.New("it babbles") // this costs all the same
}

func TestMeterStopsAtTheBudget(t *testing.T) {
	over := errors.New("the budget of today is spent")
	var booked Spent
	m := &Meter{Model: fixed{llm.Usage{Prompt: 1000, Completion: 100}}, Named: "m", Prices: Prices{"m": {Prompt: 1_000_000, Completion: 10_000_000}},
		Afford: func(context.Context) error {
			if booked.MicroUSD >= 4000 {
				return over
			}
			return nil
		},
		Book: func(_ context.Context, s Spent) error { booked.Add(s); return nil }}
	if _, err := m.Ask(t.Context(), llm.Request{}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.AskJSON(t.Context(), llm.Request{}, nil); err == nil || errors.Is(err, over) {
		t.Fatal(err)
	}
	if _, err := m.Ask(t.Context(), llm.Request{}); !errors.Is(err, over) {
		t.Fatalf("beyond the budget: %v", err)
	}
	if got := m.Spent(); got != booked || got.Calls != 2 || got.Tokens() != 2200 || got.MicroUSD != 4000 || got.MicroUSD.String() != "0.004000" {
		t.Errorf("%+v", got)
	}
}

// Sound is charged for each millisecond begun, and never for less than its length.
func TestCostOfSound(t *testing.T) {
	p := Prices{"whisper-1": {Minute: 6000}}
	for length, want := range map[time.Duration]MicroUSD{0: 0, -time.Second: 0, time.Minute: 6000, time.Second: 100, time.Nanosecond: 1, 90 * time.Second: 9000, 1000 * time.Hour: 360_000_000} {
		if got := p.OfSound("whisper-1", length); got != want {
			t.Errorf("%s: %d, want %d", length, got, want)
		}
	}
	if got := p.OfSound("at home", time.Hour); got != 0 {
		t.Errorf("at home: %d", got)
	}
}
