package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	porterstemmer "github.com/blevesearch/go-porterstemmer"

	answering "github.com/locket-dev/locket/node/answer"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// modelChoice is the language model that answers.
type modelChoice struct {
	config.LLM
}

// modelFlags adds the flags that choose the model. The key comes from the environment, because
// everybody on the machine can see a command line.
func modelFlags(fs *flag.FlagSet) *modelChoice {
	m := &modelChoice{LLM: config.LLM{Key: config.Secret(os.Getenv("LOCKET_LLM_KEY"))}}
	fs.StringVar(&m.URL, "llm", "", "OpenAI-compatible `URL` of the model that answers; its key is in LOCKET_LLM_KEY")
	fs.StringVar(&m.Model, "model", "", "the model's `name`")
	return m
}

// answerBudget is how many tokens of context a question is answered from.
const answerBudget = 2000

// answersResult says how good the answers are, in per cent. F1 covers all questions that have an
// answer, and adversarial ones, as LoCoMo measures it.
type answersResult struct {
	Model     string             `json:"model"`
	Questions int                `json:"questions"`
	F1        map[string]float64 `json:"f1"`
	Cited     float64            `json:"cited_percent"`   // of the model's answers: cite what they were given and nothing else
	Unknown   float64            `json:"unknown_percent"` // of all: "I don't know"
	Failed    int                `json:"failed"`          // questions that the model gave no answer to: they count as 0
}

// marks sums up answers.
type marks struct {
	model                               string
	f1                                  *tally
	asked, said, cited, unknown, failed int
}

// answers asks every question as a user does, and marks the answers.
func (e *lived) answers(ctx context.Context, c *conversation, m *marks) error {
	m.model = e.model.Model
	for _, q := range c.Asked {
		category := categories[q.Category]
		if q.Answer == "" && category != "adversarial" {
			continue
		}
		res, err := e.node.Ask(ctx, serve.AskRequest{Question: q.Question, Budget: answerBudget, At: e.now})
		if err != nil {
			return err
		}
		m.asked++
		text := ""
		switch {
		case res.Trouble != "":
			m.failed++
		case res.Model != "":
			m.said++
			if res.Cited {
				m.cited++
			}
			fallthrough
		default:
			a := answering.Answer{Text: res.Answer}
			text = a.Plain()
		}
		if !res.Known {
			m.unknown++
		}
		mark := f1(text, q.Answer, category)
		if category == "adversarial" {
			mark = 0
			if !res.Known && res.Trouble == "" {
				mark = 1
			}
		}
		m.f1.add(category, 1, mark)
		m.f1.add("all", 1, mark)
	}
	return nil
}

func (m *marks) result() *answersResult {
	if m.asked == 0 {
		return nil
	}
	r := &answersResult{Model: m.model, Questions: m.asked, F1: map[string]float64{}, Failed: m.failed,
		Cited: round(100 * float64(m.cited) / float64(max(1, m.said))), Unknown: round(100 * float64(m.unknown) / float64(m.asked))}
	for c, v := range m.f1.means() {
		r.F1[c] = v["1"]
	}
	return r
}

func (r *answersResult) table(w io.Writer) error {
	if r == nil {
		return nil
	}
	var parts []string
	for _, c := range append([]string{"all"}, categories[1:]...) {
		parts = append(parts, fmt.Sprintf("%s %.1f", c, r.F1[c]))
	}
	_, err := fmt.Fprintf(w, "token F1 of %s over %d questions: %s; %.1f %% cited, %.1f %% not known, %d failed\n", r.Model, r.Questions, strings.Join(parts, ", "), r.Cited, r.Unknown, r.Failed)
	return err
}

// f1 marks an answer as LoCoMo's evaluation does. For a multi-hop question, it takes, for each part
// of the true answer (divided at commas), the best part of the given answer, and returns the mean.
// For an open-domain question, it uses the true answer up to a semicolon.
func f1(said, truth, category string) float64 {
	switch category {
	case "multi_hop":
		parts, sum := strings.Split(truth, ","), 0.0
		for _, t := range parts {
			best := 0.0
			for _, s := range strings.Split(said, ",") {
				best = max(best, tokenF1(s, t))
			}
			sum += best
		}
		return sum / float64(len(parts))
	case "open_domain":
		truth, _, _ = strings.Cut(truth, ";")
	}
	return tokenF1(said, strings.TrimSpace(truth))
}

// tokenF1 is the harmonic mean of precision and recall of stemmed words.
func tokenF1(said, truth string) float64 {
	a, b := stems(said), stems(truth)
	left := map[string]int{}
	for _, w := range b {
		left[w]++
	}
	both := 0
	for _, w := range a {
		if left[w] > 0 {
			left[w]--
			both++
		}
	}
	if both == 0 {
		return 0
	}
	return 2 * float64(both) / float64(len(a)+len(b))
}

// stems returns the words of an answer, in lower case and stemmed by Porter's stemmer, without
// punctuation and without the words a, an, the and and.
func stems(s string) []string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSymbol(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	var out []string
	for _, w := range strings.Fields(s) {
		switch w {
		case "a", "an", "the", "and":
			continue
		}
		out = append(out, porterstemmer.StemString(w))
	}
	return out
}
