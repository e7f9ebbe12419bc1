package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/version"
	"github.com/locket-dev/locket/memory"
	answering "github.com/locket-dev/locket/node/answer"
	"github.com/locket-dev/locket/node/distill"
)

// mindReport is the result.
type mindReport struct {
	Suite   string       `json:"suite"`
	Server  *mindServer  `json:"server"`
	Model   mindModel    `json:"model"`
	Machine mindMachine  `json:"machine"`
	Date    string       `json:"date"`
	Locket  string       `json:"locket"`
	Prompts []string     `json:"prompts"`
	Limit   int          `json:"max_tokens"`
	Formats []mindFormat `json:"formats"`
	Lines   int          `json:"lines"`

	Rules    mindScore      `json:"rules"` // the control: rules alone
	Both     mindScore      `json:"rules_and_model"`
	Proposed map[string]int `json:"proposed"` // operations that the model proposed
	Refused  map[string]int `json:"refused"`  // those that were refused, by reason

	Without mindAnswers `json:"answers_without_model"` // the control: the best evidence
	With    mindAnswers `json:"answers_with_model"`

	Cost   map[string]mindCost      `json:"cost"`   // by part
	Faults map[fault]map[string]int `json:"faults"` // by part
	Says   map[string]int           `json:"says,omitempty"`
}

// mindFormat is a form of asking for JSON.
type mindFormat struct {
	Format   string `json:"format"`
	Taken    bool   `json:"taken"` // the server answered
	Right    bool   `json:"right"` // the answer was the right object
	Requests int    `json:"requests"`
	Says     string `json:"says,omitempty"`
}

// mindCount counts labels and memories.
type mindCount struct {
	Labels int `json:"labels"`
	Found  int `json:"found"`
	Made   int `json:"made"`
	Right  int `json:"right"`
	Twice  int `json:"twice"` // of those made, they say what another memory of the line says
}

// mindScore says how good memories are.
type mindScore struct {
	mindCount
	Langs        map[string]*mindCount `json:"langs"`
	Model        mindCount             `json:"model"` // only memories that the model made
	Empty        int                   `json:"empty"` // lines with nothing to remember
	False        int                   `json:"false"` // of those, lines with a memory
	FalseByModel int                   `json:"false_by_model"`
}

// mindAnswers says how good answers are.
type mindAnswers struct {
	Somewhere      int `json:"somewhere"` // questions that a line answers
	Right          int `json:"right"`
	WronglyUnknown int `json:"wrongly_unknown"`
	Nowhere        int `json:"nowhere"` // questions that no line answers
	RightlyUnknown int `json:"rightly_unknown"`
	ByModel        int `json:"by_model"` // the others were not asked, because recall did not know
	Cited          int `json:"cited"`
	Failed         int `json:"failed"`
	Parked         int `json:"parked_lines"`
}

// mindCost is what requests cost.
type mindCost struct {
	Requests   int     `json:"requests"`
	Seconds    float64 `json:"seconds"`
	Slowest    float64 `json:"slowest_seconds"`
	Prompt     int     `json:"prompt_tokens"`
	Completion int     `json:"completion_tokens"`
	Longest    int     `json:"longest_prompt_tokens"`
}

func newMindReport(ctx context.Context, m *mind, one mindModel) *mindReport {
	return &mindReport{Suite: "mind", Server: m.server, Model: one, Machine: thisMachine(ctx), Date: time.Now().UTC().Format(time.DateOnly), Locket: version.Of("", "", "").String(),
		Prompts: []string{distill.Version, answering.Version}, Limit: int(m.cfg.MaxTokens), Lines: len(m.lines),
		Proposed: map[string]int{}, Refused: map[string]int{}, Cost: map[string]mindCost{}, Faults: map[fault]map[string]int{}, Says: map[string]int{}}
}

// sum counts what the tap has noted.
func (r *mindReport) sum(calls []tapped) {
	for _, c := range calls {
		k := r.Cost[c.Part]
		k.Requests++
		k.Seconds += c.Took.Seconds()
		k.Slowest = max(k.Slowest, c.Took.Seconds())
		k.Prompt, k.Completion, k.Longest = k.Prompt+c.Prompt, k.Completion+c.Completion, max(k.Longest, c.Prompt)
		r.Cost[c.Part] = k
		for _, o := range c.Operations {
			r.Proposed[string(o.Op)]++
		}
		if c.Fault == "" || c.Fault == otherFormat {
			continue
		}
		if r.Faults[c.Fault] == nil {
			r.Faults[c.Fault] = map[string]int{}
		}
		r.Faults[c.Fault][c.Part]++
		if c.Fault == badStatus {
			r.Says[fmt.Sprintf("%d: %s", c.Status, c.Message)]++
		}
	}
}

// table writes rows of Markdown.
type table struct {
	w   io.Writer
	err error
}

func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.ReplaceAll(c, "|", "\\|"), "\n", " ")
	}
	t.printf("| %s |\n", strings.Join(cells, " | "))
}

// head begins a table.
func (t *table) head(title string, cells ...string) {
	t.printf("\n**%s**\n\n", title)
	t.row(cells...)
	t.printf("|%s\n", strings.Repeat(" --- |", len(cells)))
}

func (t *table) printf(format string, a ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, a...)
	}
}

// shareOf writes a share: 3 of 4 (75 %).
func shareOf(n, all int) string {
	if all == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d (%.0f %%)", n, all, 100*float64(n)/float64(all))
}

func (r *mindReport) markdown(w io.Writer) error {
	t := &table{w: w}
	where := "on this machine"
	if !r.Server.Here {
		where = "on another machine"
	}
	t.printf("**locket-bench mind: %s**\n\n", r.Model.Name)
	t.row("what", "")
	t.printf("| --- | --- |\n")
	t.row("server", strings.Join(strings.Fields(r.Server.Name+" "+r.Server.Version), " ")+", "+where)
	model := r.Model.Name
	if d := r.Model.describe(); d != "" {
		model += ", " + d
	}
	if r.Model.Loaded > 0 {
		model += fmt.Sprintf(", %.0f %% of it in graphics memory", 100*float64(r.Model.Graphics)/float64(r.Model.Loaded))
	}
	t.row("model", model)
	longest := max(r.Cost[partLines].Longest, r.Cost[partAnswers].Longest)
	if r.Model.Context > 0 {
		t.row("context", fmt.Sprintf("%d tokens; the longest question had %d, and an answer may have %d", r.Model.Context, longest, r.Limit))
	}
	t.row("this machine", r.Machine.String())
	t.row("Locket", r.Locket+"; prompts "+strings.Join(r.Prompts, ", "))
	t.row("date", r.Date)
	if r.Model.Context > 0 && longest+r.Limit > r.Model.Context {
		t.printf("\nThe context is too short for the longest question and its answer. With Ollama, set OLLAMA_CONTEXT_LENGTH=8192, and run this again.\n")
	}
	t.head("Forms of JSON", "asked for by", "the server", "the answer")
	for _, f := range r.Formats {
		taken, right := "answers", "right"
		switch {
		case !f.Taken:
			taken, right = "does not", f.Says
		case f.Says != "":
			right = f.Says
		case !f.Right:
			right = "wrong"
		}
		if f.Taken && f.Requests > 1 {
			right += fmt.Sprintf(" (%d requests)", f.Requests)
		}
		t.row(f.Format, taken, right)
	}
	r.memories(t)
	r.answers(t)
	r.cost(t)
	return t.err
}

func (r *mindReport) memories(t *table) {
	t.head(fmt.Sprintf("Memories of %d lines, %d of them with nothing to remember", r.Lines, r.Rules.Empty), "", "rules alone", "rules and model")
	t.row("right, of those made (precision)", shareOf(r.Rules.Right, r.Rules.Made), shareOf(r.Both.Right, r.Both.Made))
	t.row("says the same as another one", shareOf(r.Rules.Twice, r.Rules.Made), shareOf(r.Both.Twice, r.Both.Made))
	t.row("found, of what should be there (recall)", shareOf(r.Rules.Found, r.Rules.Labels), shareOf(r.Both.Found, r.Both.Labels))
	for _, lang := range []struct{ code, name string }{{"en", "English"}, {"zh", "Chinese"}} {
		a, b := r.Rules.Langs[lang.code], r.Both.Langs[lang.code]
		t.row(lang.name+": right; found", shareOf(a.Right, a.Made)+"; "+shareOf(a.Found, a.Labels), shareOf(b.Right, b.Made)+"; "+shareOf(b.Found, b.Labels))
	}
	t.row("the model's own: right; says the same as another one", "", shareOf(r.Both.Model.Right, r.Both.Model.Made)+"; "+shareOf(r.Both.Model.Twice, r.Both.Model.Made))
	t.row("lines with nothing to remember that gave a memory", shareOf(r.Rules.False, r.Rules.Empty), shareOf(r.Both.False, r.Both.Empty))
	t.row("… because of the model", "", shareOf(r.Both.FalseByModel, r.Both.Empty))
	t.row("lines without a usable answer", "", shareOf(r.With.Parked, r.Lines))
	proposed, refused := 0, 0
	var ops []string
	for _, op := range []memory.Verdict{memory.Add, memory.Update, memory.Delete, memory.Noop} {
		n := r.Proposed[string(op)]
		proposed += n
		ops = append(ops, fmt.Sprintf("%s %d", op, n))
	}
	for _, n := range r.Refused {
		refused += n
	}
	t.head("Operations of the model", "", "")
	t.row("proposed", fmt.Sprintf("%d: %s", proposed, strings.Join(ops, ", ")))
	t.row("accepted", shareOf(max(0, proposed-refused), proposed))
	for _, why := range byCount(r.Refused) {
		t.row("refused: "+why, fmt.Sprint(r.Refused[why]))
	}
}

func (r *mindReport) answers(t *table) {
	a, b := r.Without, r.With
	t.head(fmt.Sprintf("Answers to %d questions, %d of which no line answers", a.Somewhere+a.Nowhere, a.Nowhere), "", "no model: the first evidence", "with the model")
	t.row("right", shareOf(a.Right, a.Somewhere), shareOf(b.Right, b.Somewhere))
	t.row("\"I don't know\", though a line answers it", shareOf(a.WronglyUnknown, a.Somewhere), shareOf(b.WronglyUnknown, b.Somewhere))
	t.row("\"I don't know\" where no line answers it", shareOf(a.RightlyUnknown, a.Nowhere), shareOf(b.RightlyUnknown, b.Nowhere))
	t.row("answers of the model that cite what they were given", "", shareOf(b.Cited, b.ByModel))
	t.row("no answer from the model", "", fmt.Sprint(b.Failed))
}

func (r *mindReport) cost(t *table) {
	t.head("Time and tokens", "", "requests", "seconds each", "slowest", "tokens of questions", "tokens of answers")
	tokens := func(n int) string {
		if n == 0 {
			return "not reported"
		}
		return fmt.Sprint(n)
	}
	for _, part := range []string{partFirst, partLines, partAnswers} {
		k := r.Cost[part]
		t.row(part, fmt.Sprint(k.Requests), fmt.Sprintf("%.1f", k.Seconds/float64(max(1, k.Requests))), fmt.Sprintf("%.1f", k.Slowest), tokens(k.Prompt), tokens(k.Completion))
	}
	if r.Lines > 0 {
		t.printf("\n%.1f s for a line (up to eight go into one request), %.1f s for an answer.\n", r.Cost[partLines].Seconds/float64(r.Lines), r.Cost[partAnswers].Seconds/float64(max(1, r.With.ByModel+r.With.Failed)))
	}
	t.head("What went wrong, by request", "", partFormats, partLines, partAnswers)
	for _, f := range allFaults {
		if n := r.Faults[f]; n != nil {
			t.row(string(f), fmt.Sprint(n[partFormats]), fmt.Sprint(n[partLines]), fmt.Sprint(n[partAnswers]))
		}
	}
	if len(r.Faults) == 0 {
		t.row("nothing", "0", "0", "0")
	}
	for _, says := range byCount(r.Says) {
		t.printf("\nThe server said %d times: %s\n", r.Says[says], says)
	}
}

// byCount returns the keys, the most frequent first.
func byCount(m map[string]int) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if m[a] != m[b] {
			return m[b] - m[a]
		}
		return strings.Compare(a, b)
	})
}
