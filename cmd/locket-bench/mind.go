package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/cmd/locket-bench/labelled"
	"github.com/locket-dev/locket/internal/llm"
	answering "github.com/locket-dev/locket/node/answer"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/distill"
	"github.com/locket-dev/locket/node/serve"
)

// Parts of the run, as the tap tells them apart.
const (
	partFirst   = "first answer"
	partFormats = "formats"
	partLines   = "lines"
	partAnswers = "answers"
)

// mind measures one model of one server.
type mind struct {
	f         *frame
	cfg       config.LLM
	cache     string
	server    *mindServer
	tap       *tap
	lines     []labelled.Line
	questions []mindQuestion
}

// loading is how long the first answer may take, in which the server loads the model.
const loading = 10 * time.Minute

func runMind(ctx context.Context, f *frame) (err error) {
	model := modelFlags(f.FlagSet)
	lines := f.Int("lines", 0, "how many lines, from the first; 0: all 60")
	questions := f.Int("questions", 0, "how many questions, from the first; 0: all 40")
	timeout := f.Duration("timeout", 2*time.Minute, "how long one answer may take")
	most := f.Int("max-tokens", 2000, "tokens of one answer at most, thoughts included")
	cache := cacheFlag(f.FlagSet)
	if !f.parsed() || f.NArg() > 0 || *lines < 0 || *questions < 0 || *timeout <= 0 || *most < 1 {
		return f.usage("takes flags only, and no negative numbers. With Ollama running, it needs none: locket-bench mind")
	}
	m := &mind{f: f, cfg: model.LLM}
	if m.lines, err = mindLines(); err != nil {
		return err
	}
	if m.questions, err = mindQuestions(); err != nil {
		return err
	}
	m.lines, m.questions = firstOf(m.lines, *lines), firstOf(m.questions, *questions)
	m.cfg.Timeout, m.cfg.MaxTokens, m.cfg.Extract = config.Duration(*timeout), config.Count(*most), true
	one, err := m.open(ctx)
	if err != nil {
		return err
	}
	if m.tap, err = newTap(m.server.base, m.progress); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.tap.Close()) }()
	m.cfg.URL, m.cfg.Model = m.tap.URL, one.Name
	r := newMindReport(ctx, m, one)
	if err := withCache(*cache, func(dir string) error {
		m.cache = dir
		return m.measure(ctx, r)
	}); err != nil {
		return err
	}
	m.server.loaded(ctx, &r.Model)
	r.sum(m.tap.all())
	if *f.json {
		return json.NewEncoder(f.stdout).Encode(r)
	}
	if err := r.markdown(f.stdout); err != nil {
		return err
	}
	m.logf("\nTo send it in, copy the table into an issue. It has no name of yours and no address, and the lines are the bench's own.")
	return nil
}

func firstOf[T any](list []T, n int) []T {
	if n == 0 {
		return list
	}
	return list[:min(n, len(list))]
}

// logf tells whoever waits what is being done.
func (m *mind) logf(format string, a ...any) { fmt.Fprintf(m.f.stderr, format+"\n", a...) }

func (m *mind) progress(part string, n int, took time.Duration) {
	if n < 4 || n%10 == 0 {
		m.logf("  %s: request %d, %.1f s", part, n, took.Seconds())
	}
}

// open finds the server and the model.
func (m *mind) open(ctx context.Context) (one mindModel, err error) {
	address, flag := m.cfg.URL, " --llm "+m.cfg.URL
	if address == "" {
		address, flag = ollamaURL, ""
	}
	if m.server, err = openMind(ctx, address, string([]byte(m.cfg.Key))); errors.Is(err, errAbsent) {
		return one, fmt.Errorf("%w.%s", err, adviceAbsent(ctx, string([]byte(m.cfg.Key))))
	} else if err != nil {
		return one, err
	}
	return m.server.model(m.cfg.Model, flag)
}

// measure runs all parts. What it can't measure because the server has gone is an error.
func (m *mind) measure(ctx context.Context, r *mindReport) error {
	m.logf("%s %s with %s: loading the model", m.server.Name, m.server.Version, m.cfg.Model)
	m.tap.begin(partFirst)
	if err := m.first(ctx); err != nil {
		return err
	}
	m.tap.begin(partFormats)
	m.logf("which form of JSON it takes")
	if err := m.formats(ctx, r); err != nil {
		return err
	}
	m.logf("%d lines and %d questions, with rules alone", len(m.lines), len(m.questions))
	rules, answers, _, err := m.live(ctx, false)
	if err != nil {
		return err
	}
	r.Rules, r.Without = scoreOf(rules), answers
	m.logf("the same with the model, which takes most of the time")
	both, answers, refusals, err := m.live(ctx, true)
	if err != nil {
		return err
	}
	r.Both, r.With = scoreOf(both), answers
	r.refused(refusals)
	return nil
}

// client makes a client of the server.
func (m *mind) client(format llm.Format, timeout time.Duration) (*llm.Client, error) {
	key, err := m.cfg.APIKey()
	if err != nil {
		return nil, err
	}
	return llm.New(llm.Config{URL: m.cfg.URL, Model: m.cfg.Model, Key: key, Timeout: timeout, MaxTokens: int(m.cfg.MaxTokens), Format: format})
}

// first waits until the model is loaded. Only a fault that every request would have is an error.
func (m *mind) first(ctx context.Context) error {
	c, err := m.client(llm.FormatText, loading)
	if err != nil {
		return err
	}
	_, err = c.Ask(ctx, llm.Request{Messages: llm.FromUser("Say yes.")})
	if f, ok := errors.AsType[*llm.Fault](err); ok && f.Temporary() {
		return fmt.Errorf("the first question had no answer, so nothing was measured: %w", err)
	} else if err != nil && !ok {
		return err
	}
	return nil
}

// formats asks for a small object in each form.
func (m *mind) formats(ctx context.Context, r *mindReport) error {
	schema := &llm.Schema{Name: "sum", JSON: json.RawMessage(`{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"],"additionalProperties":false}`)}
	for _, format := range []llm.Format{llm.FormatSchema, llm.FormatObject, llm.FormatText} {
		c, err := m.client(format, m.cfg.Timeout.Std())
		if err != nil {
			return err
		}
		got := mindFormat{Format: string(format)}
		before := len(m.tap.callsOf(partFormats))
		_, err = c.AskJSON(ctx, llm.Request{System: "You add numbers.", Messages: llm.FromUser("What is the sum of 2 and 3?"), Schema: schema}, func(b []byte) error {
			var v struct{ Sum *int }
			if err := json.Unmarshal(b, &v); err != nil || v.Sum == nil {
				return errors.New("sum is missing")
			}
			got.Right = *v.Sum == 5
			return nil
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if m.tap.gone() {
			return fmt.Errorf("the server has gone: %w", err)
		}
		calls := m.tap.callsOf(partFormats)[before:]
		got.Requests = len(calls)
		for _, c := range calls {
			got.Taken = got.Taken || c.Status/100 == 2 && c.Fault != badStatus
		}
		if f, ok := errors.AsType[*llm.Fault](err); ok {
			got.Says = f.Error()
		}
		r.Formats = append(r.Formats, got)
	}
	return nil
}

// live has a node hear the lines and answer the questions. with says whether it has the model.
func (m *mind) live(ctx context.Context, with bool) (rated []ratedLine, answers mindAnswers, refusals []serve.RefusedLine, err error) {
	l, err := newLifeWith(ctx, m.cache, labelled.Wearer, func(c *config.Config) {
		if with {
			c.LLM = m.cfg
		}
	})
	if err != nil {
		return nil, answers, nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	m.tap.begin(partLines)
	byEvent, err := hearLines(ctx, l, m.lines)
	if err != nil {
		return nil, answers, nil, err
	}
	if with {
		if answers.Parked, err = m.drain(ctx, l); err != nil {
			return nil, answers, nil, err
		}
		if refusals, err = l.node.Refusals(ctx, serve.MaxList); err != nil {
			return nil, answers, nil, err
		}
	}
	if rated, err = rateLines(ctx, l, m.lines, byEvent); err != nil {
		return nil, answers, nil, err
	}
	m.tap.begin(partAnswers)
	for i := range m.questions {
		if err := m.ask(ctx, l, &m.questions[i], &answers); err != nil {
			return nil, answers, nil, err
		}
	}
	return rated, answers, refusals, nil
}

// drain waits until the model was asked about every line. It gives up when the server has gone, and
// when several rounds brought nothing.
func (m *mind) drain(ctx context.Context, l *life) (parked int, err error) {
	left := -1
	for idle := 0; ; {
		run, err := l.node.RunModel(ctx)
		if err != nil {
			return 0, err
		}
		st, err := l.node.Model(ctx)
		switch {
		case err != nil:
			return 0, err
		case st.Waiting == 0:
			return st.Parked, nil
		case m.tap.gone():
			return 0, fmt.Errorf("the server has gone: %d lines still wait (%s)", st.Waiting, run.Trouble)
		case st.Waiting == left:
			idle++
		default:
			idle, left = 0, st.Waiting
		}
		if idle == idleRounds {
			return 0, fmt.Errorf("%d lines still wait: %s", st.Waiting, run.Trouble)
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// idleRounds is how many rounds in which no line was done end the run.
const idleRounds = 5

// ask asks one question an hour after the last line, and marks the answer.
func (m *mind) ask(ctx context.Context, l *life, q *mindQuestion, a *mindAnswers) error {
	res, err := l.node.Ask(ctx, serve.AskRequest{Question: q.Question, Budget: answerBudget, At: m.lines[len(m.lines)-1].At.Add(time.Hour)})
	if err != nil {
		return err
	}
	text := res.Answer
	if res.Model != "" {
		a.ByModel++
		said := answering.Answer{Text: res.Answer}
		text = said.Plain()
		if res.Cited {
			a.Cited++
		}
	} else if res.Known && len(res.Evidence) > 0 {
		text += " " + res.Evidence[0].Text
	}
	if res.Trouble != "" {
		a.Failed++
		if m.tap.gone() {
			return fmt.Errorf("the server has gone: %s", res.Trouble)
		}
	}
	switch {
	case len(q.Has) == 0:
		a.Nowhere++
		if !res.Known {
			a.RightlyUnknown++
		}
	default:
		a.Somewhere++
		switch {
		case !res.Known:
			a.WronglyUnknown++
		case res.Trouble == "" && q.answeredBy(text):
			a.Right++
		}
	}
	return nil
}

// scoreOf counts labels and memories, as the suite extract does.
func scoreOf(rated []ratedLine) (s mindScore) {
	s.Langs = map[string]*mindCount{"en": {}, "zh": {}}
	for _, r := range rated {
		for j, e := range r.Line.Expect {
			if e.Optional {
				continue
			}
			found := r.Found[j] >= 0
			for _, c := range []*mindCount{&s.mindCount, at(s.Langs, r.Line.Lang)} {
				c.Labels++
				if found {
					c.Found++
				}
			}
		}
		own := false
		for i, v := range r.Verdicts {
			byModel := r.made[i].Source.Plugin == distill.Plugin
			own = own || byModel
			if v == labelled.Uncounted {
				continue
			}
			counts := []*mindCount{&s.mindCount, at(s.Langs, r.Line.Lang)}
			if byModel {
				counts = append(counts, &s.Model)
			}
			for _, c := range counts {
				c.Made++
				switch v {
				case labelled.Right:
					c.Right++
				case labelled.Duplicate:
					c.Twice++
				}
			}
		}
		if r.Line.None != "" && !r.Line.Either {
			s.Empty++
			if len(r.made) > 0 {
				s.False++
			}
			if own {
				s.FalseByModel++
			}
		}
	}
	return s
}

// refused counts the operations that were refused, by reason.
func (r *mindReport) refused(list []serve.RefusedLine) {
	for _, l := range list {
		if l.Plugin == distill.Plugin {
			r.Refused[withoutNumbers(l.Reason)]++
		}
	}
}

// withoutNumbers replaces the numbers in a reason, so that the same reasons are counted together.
func withoutNumbers(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		if strings.Trim(w, "0123456789.,") == "" {
			words[i] = "N"
		}
	}
	return strings.Join(words, " ")
}
